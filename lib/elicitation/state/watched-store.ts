import type { Logger } from '@nestjs/common';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { messageOf } from '../../util/message-of.js';
import type { MrtrStore } from '../../stores/mrtr-store.js';

/** Turns each failure of a store into an `UnavailableException`. It logs the start and the end of an outage. */
export class WatchedStore implements MrtrStore {
  private isDown = false;

  constructor(
    private readonly store: MrtrStore,
    private readonly logger: Logger,
  ) {}

  set(...args: Parameters<MrtrStore['set']>): Promise<void> {
    // What a handler has asked is stored.
    return this.watch(() => this.store.set(...args), true);
  }

  get(key: string): Promise<string | undefined> {
    return this.watch(() => this.store.get(key));
  }

  claim(...args: Parameters<MrtrStore['claim']>): Promise<boolean> {
    return this.watch(() => this.store.claim(...args));
  }

  private async watch<T>(work: () => Promise<T>, hasRun = false): Promise<T> {
    try {
      const result = await work();
      if (this.isDown) this.logger.log('The store of "mrtr" works again');
      this.isDown = false;
      return result;
    } catch (error) {
      if (!this.isDown) {
        this.logger.warn(`The store of "mrtr" failed; calls that need it are refused: ${messageOf(error)}`);
      }
      this.isDown = true;
      throw new UnavailableException(error, hasRun);
    }
  }
}
