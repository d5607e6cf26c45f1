import type { CallRequest, CallTrace } from '../api.js';
import { appPanel, uriOfView } from './app-panel.js';
import { callableOf, type Callable } from './callable.js';
import { ApiFailure } from './client.js';
import { alertOf, announce, button, code, confirmed, copy, fill, flash, h, select } from './dom.js';
import { argsOf, remember, runOf, runsOf, type Run } from './history.js';
import type { Item } from './items.js';
import { inputRequestsForm } from './input-requests-form.js';
import { linkToHandler, MAX_LINKED } from './route.js';
import { RunView } from './run-view.js';
import { runsTable } from './runs-table.js';
import { REVISION, SNIPPETS, type Answered } from './snippets.js';
import type { State } from './state.js';
import { taskPanel } from './task-panel.js';
import { traceView } from './trace-view.js';
import { jsonIn } from './values.js';

/** Calls one handler, round by round, and shows what comes while it runs. */
export class CallPanel extends HTMLElement {
  state!: State;
  item!: Item;
  private callable!: Callable;
  private readonly form = h('form', { novalidate: true });
  private readonly snippetPlace = h('div');
  private readonly rounds = h('ol.rounds', { 'aria-label': 'Rounds' });
  private readonly past = h('div');
  /** The call whose rounds are shown. */
  private called: { params: string; answers: Answered[]; trace?: CallTrace } = { params: '', answers: [] };
  private args?: string;
  /** Says when the arguments are too long for a link. */
  private readonly linkNote = h('p.hint', { role: 'status' });

  connectedCallback(): void {
    if (this.firstChild) return;
    this.classList.add('stack');
    const why = this.whyNot();
    if (why !== undefined) return fill(this, h('p.empty', why));
    this.form.addEventListener('submit', event => {
      event.preventDefault();
      void this.start();
    });
    this.form.addEventListener('input', () => this.noteLink());
    this.draw();
    fill(this, this.form, this.snippetPlace, this.rounds, this.past);
    this.drawPast();
  }

  prefill(args: string): void {
    if (args === this.args) return;
    this.args = args;
    if (this.firstChild && this.whyNot() === undefined) this.draw();
  }

  private whyNot(): string | undefined {
    const { state, item } = this;
    if (state.server.path === undefined) return 'A server on stdio alone cannot be called from here.';
    if (state.caller.kind === 'synthetic') {
      return 'A synthetic caller sees lists and calls nothing. Choose another caller above.';
    }
    return item.listed
      ? undefined
      : `${state.callerText} does not get this handler, so there is nothing to call.`;
  }

  private draw(): void {
    this.callable = callableOf(this.item, jsonIn(this.args));
    const { danger, form } = this.callable;
    const kinds = select(
      [['', 'Copy as …'], ...Object.keys(SNIPPETS).map(kind => [kind, kind] as const)],
      'Copy as',
    );
    kinds.addEventListener('change', () => {
      void this.snippet(kinds.value);
      kinds.value = '';
    });
    fill(
      this.form,
      danger !== null && h('p.caution', `${danger}.`),
      form.element,
      h(
        'div.row',
        h('button', { type: 'submit', class: 'primary' }, 'Call'),
        kinds,
        button('Copy link', () => copy(location.href.replace(/#.*$/s, '') + this.link(), 'Link')),
        this.linkNote,
      ),
    );
    this.noteLink();
  }

  private noteLink(): void {
    const { length } = this.linkedArgs() ?? '';
    this.linkNote.textContent =
      length > MAX_LINKED
        ? `The arguments have ${length.toLocaleString('en')} characters, and links hold at most ${MAX_LINKED.toLocaleString('en')}: the link goes to the empty form.`
        : '';
  }

  /** The arguments as a link holds them; undefined for a form that is not JSON. */
  private linkedArgs(): string | undefined {
    try {
      return JSON.stringify(argsOf({ params: this.callable.params(), kind: this.item.kind }) ?? {});
    } catch {
      return undefined;
    }
  }

  private drawPast(): void {
    const { name, kind } = this.item;
    const runs = runsOf(this.state.server.name).filter(run => run.name === name && run.kind === kind);
    fill(this.past, runs.length > 0 && runsTable(runs.slice(0, 10), run => this.again(run)));
  }

  private again(run: Run): void {
    this.args = JSON.stringify(argsOf(run) ?? {});
    this.draw();
    this.form.scrollIntoView({ block: 'nearest' });
    this.form.querySelector<HTMLElement>('input, textarea, select, button')?.focus();
    flash('The form has the arguments of that call');
  }

  private link(): string {
    const { kind, name } = this.item;
    const args = this.linkedArgs() ?? '{}';
    return linkToHandler(kind, name, 'call', args.length <= MAX_LINKED && args !== '{}' ? { args } : {});
  }

  private async start(): Promise<void> {
    const { callable, item, state } = this;
    try {
      const params = callable.params();
      const isDangerous = callable.danger !== null;
      if (isDangerous && !(await confirmed(`${item.name}: ${callable.danger}.`, 'Call'))) return;
      fill(this.rounds);
      this.args = new URLSearchParams(this.link().split('?')[1]).get('args') ?? this.args;
      history.replaceState(null, '', this.link());
      this.called = { params: JSON.stringify(params), answers: [] };
      await this.round({
        server: state.server.name,
        caller: state.caller as CallRequest['caller'],
        revision: state.revision,
        method: callable.method,
        params,
        ...(isDangerous && { confirmed: true }),
      });
    } catch (error) {
      fill(this.rounds, h('li', alertOf(error)));
    }
  }

  private async round(request: CallRequest): Promise<void> {
    const number = this.rounds.childElementCount + 1;
    const view = new RunView(`Round ${number}`, request);
    this.rounds.append(view.element);
    try {
      const trace = await view.run(answers => this.called.answers.push(...answers));
      this.called.trace = trace;
      fill(view.body, traceView(trace, await this.nextOf(request, trace)));
      announce(`Round ${number}: ${trace.outcome === 'asked' ? 'input required' : trace.outcome}`);
      const { server, caller, revision } = this.state;
      const about = { server: server.name, caller: caller.kind, revision };
      remember(runOf(request, trace, about, this.item.name, this.item.kind));
      this.drawPast();
    } catch (error) {
      if (await this.isConfirmed(error, request)) {
        view.element.remove();
        return this.round({ ...request, confirmed: true });
      }
      fill(view.body, alertOf(view.isCancelled ? 'The call was cancelled.' : error));
    }
    view.end();
  }

  /** The list of a caller may say another thing of a tool than the server knows. */
  private async isConfirmed(error: unknown, request: CallRequest): Promise<boolean> {
    const isAsked = error instanceof ApiFailure && error.status === 409 && request.confirmed !== true;
    return isAsked && confirmed(`${this.item.name}: ${error.message}.`, 'Call');
  }

  /** A form for what the server asks, the task of the call, or the view of its result. */
  private async nextOf(request: CallRequest, trace: CallTrace): Promise<HTMLElement | undefined> {
    const { called } = this;
    const { inputRequests, requestState, task, result } = trace;
    if (trace.outcome === 'asked') {
      return inputRequestsForm(inputRequests, (inputResponses, answers) => {
        called.answers.push(...answers);
        void this.round({ ...request, inputResponses, ...(requestState !== undefined && { requestState }) });
      });
    }
    if (task) {
      return taskPanel(request, task.id, {
        onAnswers: answers => void called.answers.push(...answers),
        onEnd: ended => {
          called.trace = { ...ended, outcome: ended.error ? 'error' : ended.result ? 'result' : 'task' };
        },
      });
    }
    const tool = this.item.listed;
    if (request.method !== 'tools/call' || !result || !tool || uriOfView(tool) === undefined)
      return undefined;
    const { lists } = await this.state.callerView();
    const tools = lists.find(({ method }) => method === 'tools/list')?.entries ?? [];
    return appPanel({ request, tool, tools, result });
  }

  private async snippet(kind: string): Promise<void> {
    const { item, state, callable } = this;
    const write = SNIPPETS[kind];
    if (!write) return;
    try {
      const params = callable.params();
      const { answers, trace } = this.called;
      const text = write({
        server: state.server.name,
        url: new URL(state.server.path ?? '', location.href).href,
        method: callable.method,
        params,
        schema: item.listed?.['inputSchema'],
        nameHeader: item.listed?.['nameHeader'],
        caller: state.caller.kind,
        revision: state.revision,
        ...(this.called.params === JSON.stringify(params) ? { answers, trace } : { answers: [] }),
      });
      fill(
        this.snippetPlace,
        h(
          'details',
          { open: true },
          h('summary', kind === 'curl' ? `As curl, a request of revision ${REVISION}` : `As ${kind}`),
          code(text, `As ${kind}`),
        ),
      );
      await copy(text, `The call as ${kind}`);
    } catch (error) {
      fill(this.snippetPlace, alertOf(error));
    }
  }
}
