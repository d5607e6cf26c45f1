import type { CallRequest, CallTrace, TaskState } from '../api.js';
import { post } from './client.js';
import { alertOf, announce, badge, button, fill, h } from './dom.js';
import { inputRequestsForm } from './input-requests-form.js';
import type { Answered } from './snippets.js';
import { answerView } from './trace-view.js';
import { localTime, span, statusKind } from './values.js';

/** Times between two polls, in milliseconds. */
const MIN_POLL_MS = 250;
const USUAL_POLL_MS = 1000;

const FINAL = ['completed', 'failed', 'cancelled'];

type TaskCaller = Pick<CallRequest, 'server' | 'caller' | 'revision'>;

/** A task, as its caller reads it. The panel polls while it is shown, answers elicitations, and cancels the task. */
export class TaskPanel extends HTMLElement {
  request!: TaskCaller;
  taskId!: string;
  onAnswers: (answers: Answered[]) => void = () => {};
  onEnd: (trace: CallTrace) => void = () => {};

  private timer?: ReturnType<typeof setTimeout>;
  private readonly state = h('div');
  private readonly body = h('div');
  private readonly faults = h('div');
  private readonly cancel = button('Cancel the task', () => this.act('tasks/cancel', {}));
  /** The status and the input requests that are shown. */
  private shown = '';
  private isOver = false;

  connectedCallback(): void {
    if (!this.firstChild) this.append(this.state, this.body, this.faults, this.cancel);
    void this.poll();
  }

  disconnectedCallback(): void {
    clearTimeout(this.timer);
  }

  private ask(method: string, more: Pick<CallRequest, 'inputResponses'> = {}): Promise<CallTrace> {
    const params = { taskId: this.taskId };
    return post<CallTrace>('call', { ...this.request, method, params, confirmed: true, ...more });
  }

  private async poll(): Promise<void> {
    clearTimeout(this.timer);
    let wait = USUAL_POLL_MS;
    try {
      if (!this.isOver) wait = this.show(await this.ask('tasks/get'));
    } catch (error) {
      fill(this.state, alertOf(error));
    }
    // Another poll may have begun meanwhile.
    clearTimeout(this.timer);
    if (this.isConnected && !this.isOver) this.timer = setTimeout(() => void this.poll(), wait);
  }

  private async act(method: string, more: Pick<CallRequest, 'inputResponses'>): Promise<void> {
    try {
      const { error } = await this.ask(method, more);
      if (error) throw new Error(error.message);
      fill(this.faults);
    } catch (error) {
      fill(this.faults, alertOf(error));
      // The form is shown again.
      this.shown = '';
    }
    await this.poll();
  }

  /** @returns after how many milliseconds the next poll may come */
  private show(trace: CallTrace): number {
    const { task, inputRequests, error } = trace;
    if (!task) {
      this.isOver = true;
      this.cancel.hidden = true;
      fill(this.state, alertOf(`${error?.message}: only its own caller can read a task.`));
      return 0;
    }
    fill(this.state, ...stateView(task));
    // What the user is writing stays until the task changes.
    const shown = JSON.stringify([task.status, inputRequests.map(({ key }) => key)]);
    if (shown !== this.shown) {
      this.shown = shown;
      this.isOver = FINAL.includes(task.status);
      this.cancel.hidden = this.isOver;
      fill(this.body, ...answerView(trace), inputRequests.length > 0 && this.form(trace));
      announce(`Task: ${task.status}`);
      if (this.isOver) this.onEnd(trace);
    }
    return Math.max(MIN_POLL_MS, task.pollIntervalMs ?? USUAL_POLL_MS);
  }

  private form({ inputRequests }: CallTrace): HTMLElement {
    return inputRequestsForm(inputRequests, (inputResponses, answers) => {
      this.onAnswers(answers);
      void this.act('tasks/update', { inputResponses });
    });
  }
}

const stateView = ({ id, status, statusMessage, createdAt, lastUpdatedAt, ttlMs }: TaskState) => [
  badge(status, statusKind(status)),
  ' Task ',
  h('code', id),
  statusMessage !== undefined && ` · ${statusMessage}`,
  ` · created ${span(Date.now() - Date.parse(createdAt))} ago · changed `,
  h('time', { datetime: lastUpdatedAt }, localTime(lastUpdatedAt)),
  ttlMs !== undefined && ` · ${span(Date.parse(createdAt) + ttlMs - Date.now())} left`,
];

export function taskPanel(
  request: TaskCaller,
  taskId: string,
  handlers: Partial<Pick<TaskPanel, 'onAnswers' | 'onEnd'>> = {},
): TaskPanel {
  const { server, caller, revision } = request;
  return Object.assign(new TaskPanel(), { request: { server, caller, revision }, taskId, ...handlers });
}
