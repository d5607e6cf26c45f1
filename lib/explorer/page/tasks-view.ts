import type { CallRequest, TaskRow, Tasks } from '../api.js';
import { post } from './client.js';
import { alertOf, badge, button, confirmed, fill, h, table, type Child } from './dom.js';
import { PolledView } from './polled-view.js';
import { linkToHandler } from './route.js';
import { taskPanel } from './task-panel.js';
import { span, statusKind } from './values.js';

/** The latest tasks of all callers, and one of them as its caller reads it. */
export class TasksView extends PolledView {
  private readonly list = h('div');
  private readonly opened = h('section', { 'aria-label': 'Task' });

  protected async build(): Promise<Child[]> {
    await this.refresh();
    return [
      h(
        'div.page',
        h('div.row.apart', h('h2', 'Tasks'), this.toggle),
        this.lost,
        this.list,
        h('p.hint', `Only its own caller can read a task. “Open” reads it as ${this.state.callerText}.`),
        this.opened,
      ),
    ];
  }

  protected async refresh(): Promise<void> {
    const { id: focused } = document.activeElement ?? {};
    const { tasks } = await post<Tasks>('tasks', { server: this.state.server.name });
    fill(this.list, tasks ? this.tableOf(tasks) : h('p.empty', 'The server does not import McpTasksModule.'));
    if (focused) document.getElementById(focused)?.focus();
  }

  private tableOf(tasks: readonly TaskRow[]): HTMLElement {
    if (tasks.length === 0) return h('p.empty', 'No tasks yet.');
    return table(
      'Latest tasks of this node',
      {
        Task: ({ id }) => [h('code', id), ' ', this.named(`open-${id}`, 'Open', () => this.open(id))],
        Tool: ({ tool }) => h('a', { href: linkToHandler('tool', tool) }, h('code', tool)),
        Status: ({ status, statusMessage }) => [badge(status, statusKind(status)), ' ', statusMessage],
        Elicitations: ({ inputRequests }) => h('span.number', inputRequests),
        Age: ({ createdAt }) => h('span.number', span(Date.now() - Date.parse(createdAt))),
        Left: ({ createdAt, ttlMs }) => h('span.number', span(Date.parse(createdAt) + ttlMs - Date.now())),
        Cancel: row =>
          (row.status === 'working' || row.status === 'input_required') &&
          this.named(`end-${row.id}`, 'Cancel task', () => this.cancel(row)),
      },
      tasks,
    );
  }

  /** A button that keeps the focus when the table is filled again. */
  private named(id: string, text: string, onClick: () => unknown): HTMLButtonElement {
    const element = button(text, onClick, 'small');
    element.id = id;
    return element;
  }

  private open(id: string): void {
    const { server, caller } = this.state;
    if (caller.kind === 'synthetic') {
      return fill(this.opened, alertOf('A synthetic caller has no tasks. Choose another caller above.'));
    }
    const request = { server: server.name, caller } satisfies Pick<CallRequest, 'server' | 'caller'>;
    fill(this.opened, taskPanel(request, id));
  }

  private async cancel({ id, tool }: TaskRow): Promise<void> {
    if (!(await confirmed(`The task of ${tool} ends, and its caller gets no result.`, 'Cancel the task')))
      return;
    try {
      await post<object>('cancel', { server: this.state.server.name, id });
    } catch (error) {
      fill(this.opened, alertOf(error));
    }
    await this.poll();
  }
}
