import type { CatalogueServer } from '../api.js';
import { alertOf, fill, h, type Child } from './dom.js';

/** A view of one server. It is filled when it is first shown. */
export abstract class View extends HTMLElement {
  server!: CatalogueServer;
  private isFilled = false;

  connectedCallback(): void {
    if (this.isFilled) return;
    this.isFilled = true;
    void this.load();
  }

  /** Builds the view, from what it asks the API. */
  protected abstract build(): Promise<Child[]>;

  protected async load(): Promise<void> {
    this.setAttribute('aria-busy', 'true');
    this.replaceChildren(h('p.hint', 'Loading …'));
    try {
      fill(this, await this.build());
    } catch (error) {
      this.replaceChildren(alertOf(error));
    }
    this.removeAttribute('aria-busy');
  }
}
