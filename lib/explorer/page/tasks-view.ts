import type { TaskRow, Tasks } from '../api.js';
import { CallerPicker } from './caller-picker.js';
import { post } from './client.js';
import { alertOf, badge, button, confirmed, fill, h, table } from './dom.js';
import { PolledView } from './polled-view.js';
import { taskPanel } from './task-panel.js';
import { span, statusKind } from './values.js';

/** The latest tasks of all callers, and one of them as its caller reads it. */
export class TasksView extends PolledView {
  private readonly picker = new CallerPicker(['anonymous', 'token']);
  private readonly list = h('div');
  private readonly opened = h('section', { 'aria-label': 'Task' });

  protected async build(): Promise<Node[]> {
    await this.refresh();
    return [
      h('h2', 'Tasks'),
      h('div.row', this.toggle),
      this.list,
      h('p.hint', 'Only its own caller can read a task. “Open” reads it as this caller:'),
      this.picker.element,
      this.opened,
    ];
  }

  protected async refresh(): Promise<void> {
    const { id: focused } = document.activeElement ?? {};
    try {
      const { tasks } = await post<Tasks>('tasks', { server: this.server.name });
      fill(this.list, tasks ? this.tableOf(tasks) : h('p', 'The server does not import McpTasksModule.'));
    } catch (error) {
      fill(this.list, alertOf(error));
    }
    if (focused) document.getElementById(focused)?.focus();
  }

  private tableOf(tasks: readonly TaskRow[]): HTMLElement {
    if (tasks.length === 0) return h('p.hint', 'No tasks yet.');
    return table(
      'Latest tasks of this node',
      {
        Task: ({ id }) => [h('code', id), ' ', this.named(`open-${id}`, 'Open', () => this.open(id))],
        Tool: ({ tool }) => h('code', tool),
        Status: ({ status, statusMessage }) => [badge(status, statusKind(status)), ' ', statusMessage],
        Questions: ({ questions }) => questions,
        Age: ({ createdAt }) => span(Date.now() - Date.parse(createdAt)),
        Left: ({ createdAt, ttlMs }) => span(Date.parse(createdAt) + ttlMs - Date.now()),
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
    try {
      fill(this.opened, taskPanel({ server: this.server.name, caller: this.picker.value }, id));
    } catch (error) {
      fill(this.opened, alertOf(error));
    }
  }

  private async cancel({ id, tool }: TaskRow): Promise<void> {
    if (!(await confirmed(`The task of ${tool} ends, and its caller gets no result.`, 'Cancel the task')))
      return;
    try {
      await post<object>('cancel', { server: this.server.name, id });
    } catch (error) {
      fill(this.opened, alertOf(error));
    }
    await this.refresh();
  }
}
