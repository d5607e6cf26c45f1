import { failure, fill, h, type Child } from './dom.js';
import type { Route } from './route.js';
import type { State } from './state.js';

/** A view of what the header has chosen. It is filled when it is first shown. */
export abstract class View extends HTMLElement {
  state!: State;
  /** Heads the view if it cannot be loaded. */
  heading!: string;
  private isFilled = false;
  private isReady = false;
  private latest?: Route;

  connectedCallback(): void {
    if (this.isFilled) return;
    this.isFilled = true;
    void this.load();
  }

  /** Shows a place of the view, once it is filled. */
  go(route: Route): void {
    this.latest = route;
    if (this.isReady) this.show(route);
  }

  protected abstract build(): Promise<Child[]>;

  protected show(_route: Route): void {}

  private async load(): Promise<void> {
    this.setAttribute('aria-busy', 'true');
    fill(this, h('div.loading', { role: 'status' }, 'Loading …'));
    try {
      fill(this, await this.build());
      this.isReady = true;
      if (this.latest) this.show(this.latest);
    } catch (error) {
      fill(
        this,
        h(
          'div.page',
          h('h2', this.heading),
          failure(error, () => this.load()),
        ),
      );
    }
    this.removeAttribute('aria-busy');
  }
}
