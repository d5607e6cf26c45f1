import type { Params } from '../protocol/mcp-call.js';

type Send = (task: Params) => Promise<void>;

/**
 * Sends the states of tasks to a client, one after the other. Of a task whose state changes while another one is sent,
 * only the last state is kept.
 */
export class TaskReports {
  private readonly waiting = new Map<unknown, Params>();
  private send?: Send;
  private isSending = false;

  /** @param onError called when a state could not be sent */
  constructor(private readonly onError: (error: Error) => void) {}

  add(id: unknown, task: Params): void {
    this.waiting.set(id, task);
    void this.flush();
  }

  /** Sends the states from now on, also those that were added before. */
  open(send: Send): void {
    this.send = send;
    void this.flush();
  }

  private async flush(): Promise<void> {
    const { waiting, send } = this;
    if (!send || this.isSending) return;
    this.isSending = true;
    // An entry that is added meanwhile comes last.
    for (const [id, task] of waiting) {
      waiting.delete(id);
      await send(task).catch(this.onError);
    }
    this.isSending = false;
  }
}
