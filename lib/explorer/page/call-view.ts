import type { CallerView, CallRequest, CallTrace, CallerList, TaskState } from '../api.js';
import { appPanel, uriOfView } from './app-panel.js';
import { nameOf } from './callers-view.js';
import { CallerPicker } from './caller-picker.js';
import { ApiFailure, post } from './client.js';
import { dangerOf } from './danger.js';
import { alertOf, announce, badge, button, code, confirmed, copy, fill, h, labelled } from './dom.js';
import { questionsForm } from './questions-form.js';
import { formOf, type Form } from './schema-form.js';
import { curlOf, testOf, type Answered, type Called } from './snippets.js';
import { taskPanel } from './task-panel.js';
import { traceView } from './trace-view.js';
import { isRecord, textOf, type Json } from './values.js';
import { View } from './view.js';

interface Target {
  readonly method: string;
  readonly name: string;
  readonly entry: Json;
  readonly form: Form;
  /** `null` for what only reads. */
  readonly danger: string | null;
}

const GROUPS: Readonly<Record<CallerList['method'], string>> = {
  'tools/list': 'Tools',
  'prompts/list': 'Prompts',
  'resources/list': 'Resources',
  'resources/templates/list': 'Resource templates',
  'extension methods': 'Methods of extensions',
};

/** Calls a handler as a client of 2026-07-28 does, round by round. */
export class CallView extends View {
  private readonly picker = new CallerPicker(['anonymous', 'token'], () => void this.list());
  private readonly chooser = h('select');
  private readonly formPlace = h('div');
  private readonly snippetPlace = h('div');
  private readonly rounds = h('ol.rounds');
  private lists: readonly CallerList[] = [];
  private target?: Target;
  /** The call whose rounds are shown. */
  private called: { params: string; answers: Answered[]; trace?: CallTrace } = { params: '', answers: [] };

  protected async build(): Promise<Node[]> {
    const { path } = this.server;
    const heading = h('h2', 'Call');
    if (path === undefined) return [heading, h('p', 'A server on stdio alone cannot be called from here.')];
    this.chooser.addEventListener('change', () => this.choose());
    await this.list();
    return [
      heading,
      this.picker.element,
      labelled(
        'Tool, prompt or resource, or extension method',
        this.chooser,
        'The lists that this caller gets.',
      ),
      this.formPlace,
      h(
        'div.row',
        button('Call', () => this.start(), 'primary'),
        button('Copy as curl', () => this.snippet('curl', curlOf)),
        button('Copy as test', () => this.snippet('test', testOf)),
      ),
      this.snippetPlace,
      h('section', { 'aria-label': 'Rounds' }, this.rounds),
    ];
  }

  private async list(): Promise<void> {
    fill(this.formPlace);
    try {
      const body = { server: this.server.name, caller: this.picker.value };
      const { lists, refused } = await post<CallerView>('callers', body);
      this.lists = lists;
      fill(
        this.chooser,
        lists
          .filter(({ entries }) => entries.length > 0)
          .map(({ method, entries }) =>
            h(
              'optgroup',
              { label: GROUPS[method] },
              ...entries.map((entry, index) => h('option', { value: `${method}#${index}` }, nameOf(entry))),
            ),
          ),
      );
      this.choose();
      if (refused !== undefined) fill(this.formPlace, alertOf(refused));
    } catch (error) {
      fill(this.formPlace, alertOf(error));
    }
  }

  private choose(): void {
    const [method, index] = this.chooser.value.split('#');
    const entry = this.lists.find(list => list.method === method)?.entries[Number(index)];
    this.target = entry && targetOf(method as CallerList['method'], entry);
    const description = this.target?.entry['description'];
    fill(
      this.formPlace,
      this.target
        ? this.target.danger !== null && badge(this.target.danger, 'warn')
        : 'This caller can call nothing.',
      description !== undefined && h('p', textOf(description)),
      this.target?.form.element,
    );
  }

  private async start(): Promise<void> {
    const { target } = this;
    if (!target) return;
    try {
      const params = paramsOf(target);
      const isDangerous = target.danger !== null;
      if (isDangerous && !(await confirmed(`${target.name}: ${target.danger}.`, 'Call'))) return;
      fill(this.rounds);
      this.called = { params: JSON.stringify(params), answers: [] };
      await this.round({
        server: this.server.name,
        caller: this.picker.value,
        method: target.method,
        params,
        ...(isDangerous && { confirmed: true }),
      });
    } catch (error) {
      fill(this.rounds, h('li', alertOf(error)));
    }
  }

  private async round(request: CallRequest): Promise<void> {
    const number = this.rounds.childElementCount + 1;
    const heading = h('h3', { tabindex: -1 }, `Round ${number}`);
    const leaving = new AbortController();
    const place = h(
      'li',
      { 'aria-busy': 'true' },
      heading,
      h('p.hint', 'Waiting for the answer …'),
      button('Cancel the call', () => leaving.abort()),
    );
    this.rounds.append(place);
    try {
      const trace = await post<CallTrace>('call', request, leaving.signal);
      this.called.trace = trace;
      fill(
        place,
        heading,
        ...traceView(trace),
        trace.outcome === 'asked' && this.questions(request, trace),
        trace.task && this.task(request, trace.task),
        trace.outcome === 'result' && this.app(request, trace),
      );
      announce(`Round ${number}: ${trace.outcome}`);
    } catch (error) {
      if (await this.isConfirmed(error, request)) {
        place.remove();
        return this.round({ ...request, confirmed: true });
      }
      fill(place, heading, alertOf(leaving.signal.aborted ? 'The call was cancelled.' : error));
    }
    place.removeAttribute('aria-busy');
    heading.focus();
  }

  /** The list of a caller may say another thing of a tool than the server knows. */
  private async isConfirmed(error: unknown, request: CallRequest): Promise<boolean> {
    const isAsked = error instanceof ApiFailure && error.status === 409 && request.confirmed !== true;
    return isAsked && confirmed(`${this.target?.name}: ${error.message}.`, 'Call');
  }

  private questions(request: CallRequest, { questions, requestState }: CallTrace): HTMLElement {
    return questionsForm(questions, (inputResponses, answers) => {
      this.called.answers.push(...answers);
      void this.round({ ...request, inputResponses, ...(requestState !== undefined && { requestState }) });
    });
  }

  private task(request: CallRequest, { id }: TaskState): HTMLElement {
    const { called } = this;
    return taskPanel(request, id, {
      onAnswers: answers => void called.answers.push(...answers),
      onEnd: trace => {
        const outcome = trace.error ? 'error' : trace.result ? 'result' : 'task';
        called.trace = { ...trace, outcome };
      },
    });
  }

  /** The view of the tool, if it has one. */
  private app(request: CallRequest, { result }: CallTrace): HTMLElement | undefined {
    if (request.method !== 'tools/call' || !result) return undefined;
    const tools = this.lists.find(({ method }) => method === 'tools/list')?.entries ?? [];
    const tool = tools.find(({ name }) => name === request.params['name']);
    return tool && uriOfView(tool) !== undefined ? appPanel({ request, tool, tools, result }) : undefined;
  }

  private async snippet(kind: 'curl' | 'test', write: (called: Called) => string): Promise<void> {
    const { target } = this;
    if (!target) return;
    try {
      const params = paramsOf(target);
      const { answers, trace } = this.called;
      const text = write({
        server: this.server.name,
        url: new URL(this.server.path ?? '', location.href).href,
        method: target.method,
        params,
        schema: target.entry['inputSchema'],
        nameHeader: target.entry['nameHeader'],
        caller: this.picker.value.kind,
        ...(this.called.params === JSON.stringify(params) ? { answers, trace } : { answers: [] }),
      });
      fill(
        this.snippetPlace,
        h('details', { open: true }, h('summary', `As ${kind}`), code(text, `As ${kind}`)),
      );
      await copy(text, `The call as ${kind}`);
    } catch (error) {
      fill(this.snippetPlace, alertOf(error));
    }
  }
}

function targetOf(list: CallerList['method'], entry: Json): Target {
  const name = nameOf(entry);
  const none: Form = { element: h('p.hint', 'Arguments: none'), read: () => undefined };
  switch (list) {
    case 'tools/list':
      return {
        method: 'tools/call',
        name,
        entry,
        form: formOf(entry['inputSchema'], 'Arguments'),
        danger: dangerOf(entry),
      };
    case 'prompts/list':
      return {
        method: 'prompts/get',
        name,
        entry,
        form: formOf(promptSchema(entry), 'Arguments'),
        danger: null,
      };
    case 'resources/list':
      return { method: 'resources/read', name, entry, form: none, danger: null };
    case 'resources/templates/list': {
      const uri = h('input', { type: 'text', value: name, autocomplete: 'off' });
      const form = { element: labelled('URI', uri, `By the template ${name}`), read: () => uri.value };
      return { method: 'resources/read', name, entry, form, danger: null };
    }
    case 'extension methods': {
      const form = formOf(entry['inputSchema'] ?? { type: 'object' }, 'Params');
      return { method: name, name, entry, form, danger: 'It may change something' };
    }
  }
}

function promptSchema({ arguments: list }: Json): Json {
  const fields = Array.isArray(list) ? list.filter(isRecord) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, description, title }) => [textOf(name), { type: 'string', description, title }]),
    ),
    required: fields.filter(({ required }) => required === true).map(({ name }) => textOf(name)),
  };
}

function paramsOf({ method, name, form }: Target): Json {
  const value = form.read();
  if (method === name) return isRecord(value) ? value : {};
  if (method === 'resources/read') return { uri: value ?? name };
  return { name, arguments: value ?? {} };
}
