import type { Client, LoggingMessageNotification } from '@modelcontextprotocol/client';
import { Subject, type Observable } from 'rxjs';

/** What a server tells without being asked, across all the connections that there are one after another. */
export class ServerEvents {
  private readonly subjects = {
    opened: new Subject<void>(),
    toolsChanged: new Subject<void>(),
    promptsChanged: new Subject<void>(),
    resourcesChanged: new Subject<void>(),
    resourceUpdated: new Subject<{ readonly uri: string }>(),
    logged: new Subject<LoggingMessageNotification['params']>(),
  };

  /** A connection has been opened: subscriptions of an earlier one are gone. */
  readonly opened$: Observable<void> = this.subjects.opened.asObservable();
  readonly toolsChanged$: Observable<void> = this.subjects.toolsChanged.asObservable();
  readonly promptsChanged$: Observable<void> = this.subjects.promptsChanged.asObservable();
  readonly resourcesChanged$: Observable<void> = this.subjects.resourcesChanged.asObservable();
  readonly resourceUpdated$: Observable<{ readonly uri: string }> =
    this.subjects.resourceUpdated.asObservable();
  readonly logged$: Observable<LoggingMessageNotification['params']> = this.subjects.logged.asObservable();

  /** Listens to a client that is about to connect. */
  attach(client: Client): void {
    const { toolsChanged, promptsChanged, resourcesChanged, resourceUpdated, logged } = this.subjects;
    client.setNotificationHandler('notifications/tools/list_changed', () => toolsChanged.next());
    client.setNotificationHandler('notifications/prompts/list_changed', () => promptsChanged.next());
    client.setNotificationHandler('notifications/resources/list_changed', () => resourcesChanged.next());
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) =>
      resourceUpdated.next({ uri }),
    );
    client.setNotificationHandler('notifications/message', ({ params }) => logged.next(params));
  }

  opened(): void {
    this.subjects.opened.next();
  }

  /** Completes everything. */
  close(): void {
    for (const subject of Object.values(this.subjects)) subject.complete();
  }
}
