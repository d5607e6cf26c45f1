import type { CallRequest, CallTrace, InputRequest, ShownLog } from '../api.js';
import { post, stream } from './client.js';
import { badge, button, fill, h } from './dom.js';
import { inputRequestsForm } from './input-requests-form.js';
import type { Answered } from './snippets.js';
import { ms } from './values.js';

/** One round of a call: what comes while it runs, and then its trace. */
export class RunView {
  readonly body = h('div.stack');
  readonly element: HTMLElement;
  private readonly heading: HTMLElement;
  private readonly leaving = new AbortController();
  private readonly bar = h('progress', { 'aria-label': 'Progress' });
  private readonly text = h('span', 'Waiting for the answer …');
  private readonly logs = h('ol.timeline', { 'aria-label': 'Log messages' });
  private readonly asked = h('div');

  constructor(
    title: string,
    private readonly request: CallRequest,
  ) {
    this.heading = h('h3', { tabindex: -1 }, title);
    this.element = h('li', { 'aria-busy': 'true' }, this.heading, this.body);
    const cancel = button('Cancel the call', () => this.leaving.abort());
    fill(this.body, h('div.row.running', this.bar, this.text, cancel), this.logs, this.asked);
  }

  get isCancelled(): boolean {
    return this.leaving.signal.aborted;
  }

  /** @param onAnswers gets the answers of the user in a session */
  async run(onAnswers: (answers: Answered[]) => void): Promise<CallTrace> {
    for await (const event of stream('call', this.request, this.leaving.signal)) {
      switch (event.type) {
        case 'progress':
          this.text.textContent = event.progress.text;
          if (event.progress.share !== undefined) this.bar.value = event.progress.share;
          break;
        case 'log':
          this.logs.append(logLine(event.log));
          break;
        case 'inputRequest':
          this.ask(event.call, event.inputRequest, onAnswers);
          break;
        case 'failed':
          throw new Error(event.error);
        case 'trace':
          return event.trace;
      }
    }
    throw new Error('The application ended the answer before the call had a trace');
  }

  end(): void {
    this.element.removeAttribute('aria-busy');
    this.heading.focus({ preventScroll: true });
  }

  private ask(call: string, inputRequest: InputRequest, onAnswers: (answers: Answered[]) => void): void {
    const form = inputRequestsForm([inputRequest], (responses, answers) => {
      onAnswers(answers);
      const result = responses[inputRequest.key];
      void post('answer', { call, key: inputRequest.key, result }).then(
        () => form.remove(),
        (error: Error) => form.append(h('p.alert', error.message)),
      );
    });
    this.asked.append(form);
    form.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }
}

export const logLine = ({ atMs, level, text }: ShownLog): HTMLElement =>
  h('li', h('span.at', ms(atMs)), badge(level, level), h('span', text));
