import { button, h } from './dom.js';
import { localTime } from './values.js';
import { View } from './view.js';

const PERIOD_MS = 2000;

/** A view that asks again every two seconds while it is shown. What it shows stays when the application is lost. */
export abstract class PolledView extends View {
  private timer?: ReturnType<typeof setInterval>;
  protected readonly lost = h('p.alert', { role: 'status', hidden: true });
  private lostAt?: string;
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

  /** @throws Error if the application does not answer */
  protected abstract refresh(): Promise<void>;

  protected async poll(): Promise<void> {
    try {
      await this.refresh();
      this.lostAt = undefined;
      this.lost.hidden = true;
    } catch (error) {
      this.lostAt ??= new Date().toISOString();
      this.lost.hidden = false;
      this.lost.textContent = `Not updated since ${localTime(this.lostAt)}: ${(error as Error).message}`;
    }
  }

  private resume(): void {
    this.timer ??= setInterval(() => {
      if (!document.hidden) void this.poll();
    }, PERIOD_MS);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
