import { button } from './dom.js';
import { View } from './view.js';

const PERIOD_MS = 2000;

/** A view that asks again every two seconds while it is shown. */
export abstract class PolledView extends View {
  private timer?: ReturnType<typeof setInterval>;
  protected readonly toggle = button('Pause', () => {
    if (this.timer) this.pause();
    else this.resume();
    this.toggle.textContent = this.timer ? 'Pause' : 'Resume';
  });

  override connectedCallback(): void {
    super.connectedCallback();
    this.resume();
  }

  disconnectedCallback(): void {
    this.pause();
  }

  protected abstract refresh(): Promise<void>;

  private resume(): void {
    this.timer ??= setInterval(() => {
      if (!document.hidden) void this.refresh();
    }, PERIOD_MS);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
