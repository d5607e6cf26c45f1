/**
 * Carries small messages between the nodes of an application. The bus may lose messages, but keeps the order of each
 * node's messages. `contracts.messageBus` of `nestjs-mcp/testing` tests an implementation.
 */
export interface MessageBus {
  /**
   * Sends a message to every node that listens to the channel, perhaps including this node.
   * @param message a JSON object
   */
  publish(channel: string, message: object): Promise<void>;
  /**
   * Listens to a channel, also after the connection was lost and restored. Resolves when messages arrive, or at once if
   * the connection is lost.
   * @param listener does not throw
   * @returns a function that stops listening
   */
  subscribe(channel: string, listener: (message: unknown) => void): Promise<() => Promise<void>>;
}

/**
 * A bus in memory, for servers in one process and for tests.
 * @example
 * ```ts
 * const bus = new MemoryMessageBus();
 * McpModule.forRoot({ name: 'shop', version: '1.0.0', bus });
 * ```
 */
export class MemoryMessageBus implements MessageBus {
  private readonly listeners = new Map<string, Set<(message: unknown) => void>>();

  async publish(channel: string, message: object): Promise<void> {
    const text = JSON.stringify(message);
    for (const listener of this.listeners.get(channel) ?? []) listener(JSON.parse(text));
  }

  async subscribe(channel: string, listener: (message: unknown) => void): Promise<() => Promise<void>> {
    // A wrapper, so that the same listener can listen twice.
    const own = (message: unknown) => listener(message);
    const listeners = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, listeners.add(own));
    return async () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.listeners.get(channel) === listeners) this.listeners.delete(channel);
    };
  }
}
