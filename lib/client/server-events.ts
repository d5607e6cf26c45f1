import type { Client, LoggingMessageNotification } from '@modelcontextprotocol/client';
import { Subject } from 'rxjs';

export class ServerEvents {
  readonly opened = new Subject<void>();
  readonly toolsChanged = new Subject<void>();
  readonly promptsChanged = new Subject<void>();
  readonly resourcesChanged = new Subject<void>();
  readonly resourceUpdated = new Subject<{ readonly uri: string }>();
  readonly logged = new Subject<LoggingMessageNotification['params']>();

  attach(client: Client): void {
    client.setNotificationHandler('notifications/tools/list_changed', () => this.toolsChanged.next());
    client.setNotificationHandler('notifications/prompts/list_changed', () => this.promptsChanged.next());
    client.setNotificationHandler('notifications/resources/list_changed', () => this.resourcesChanged.next());
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) =>
      this.resourceUpdated.next({ uri }),
    );
    client.setNotificationHandler('notifications/message', ({ params }) => this.logged.next(params));
  }

  close(): void {
    for (const subject of Object.values(this) as Subject<never>[]) subject.complete();
  }
}
