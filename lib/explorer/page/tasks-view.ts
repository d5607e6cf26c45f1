import type { TaskRow, Tasks } from '../api.js';
import { post } from './client.js';
import { alertOf, badge, button, confirmed, fill, h, table, time, type Child } from './dom.js';
import { PolledView } from './polled-view.js';
import { handlerLink } from './links.js';
import { taskPanel } from './task-panel.js';
import { count, span, statusKind } from './values.js';

/** The latest tasks of all callers, and one of them as its caller reads it. */
export class TasksView extends PolledView {
  private readonly list = h('div');
  private readonly opened = h('section', { 'aria-label': 'Task' });

  protected async build(): Promise<Child[]> {
    await this.refresh();
    return [
      h('div.page', h('div.row.apart', h('h2', 'Tasks'), this.toggle), this.lost, this.list, this.opened),
    ];
  }

  protected async refresh(): Promise<void> {
    const { id: focused } = document.activeElement ?? {};
    const tasks = await post<Tasks>('tasks', { server: this.state.server.name });
    fill(this.list, this.listOf(tasks));
    if (focused) document.getElementById(focused)?.focus();
  }

  private listOf({ tasks, more }: Tasks): Child[] {
    if (!tasks)
      return [h('p.empty', 'The server has no tasks: the application does not import McpTasksModule.')];
    if (tasks.length === 0)
      return [h('p.empty', 'No tasks yet. Calls of tools with the option “task” become tasks.')];
    const { callerText } = this.state;
    return [
      this.tableOf(tasks),
      more > 0 && h('p.hint', `and ${count(more, 'older task')}`),
      h(
        'p.hint',
        `Only its own caller can read a task, and anonymous callers share theirs. “Open” reads it as ${callerText}.`,
      ),
    ];
  }

  private tableOf(tasks: readonly TaskRow[]): HTMLElement {
    return table(
      'Latest tasks of this node',
      {
        Task: ({ id }) => [
          h('code', { title: id }, id.slice(0, 8)),
          ' ',
          this.named(`open-${id}`, 'Open', () => this.open(id)),
        ],
        Tool: ({ tool }) => handlerLink('tool', tool),
        Caller: ({ caller }) => caller,
        Status: ({ status, statusMessage }) => [badge(status, statusKind(status)), ' ', statusMessage],
        Elicitations: ({ inputRequests }) => h('span.number', inputRequests),
        Since: ({ createdAt }) => time(createdAt),
        Changed: ({ lastUpdatedAt }) => time(lastUpdatedAt),
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
    // Revisions before 2026-07-28 have no tasks, so the one that is chosen does not matter.
    fill(this.opened, taskPanel({ server: server.name, caller }, id));
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
