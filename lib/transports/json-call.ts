import type { RequestId } from '@modelcontextprotocol/server';
import type { McpException } from '../exceptions/mcp.exception.js';
import type { AskClient, McpCall } from '../protocol/mcp-call.js';
import { answerInJson, encodeFailure } from '../server/answer-encoder.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { RunningCall, type RunningWork } from '../protocol/running-calls.js';
import type { PostAnswer } from './http/post-answer.js';

/** A call, and the answer that its transport writes as JSON. */
export class JsonCall extends RunningCall {
  private isOver = false;

  /** @param send sends requests to the client on the call's own stream, if the connection carries requests */
  constructor(
    readonly id: RequestId,
    private readonly era: McpCall['era'],
    private readonly answer: Pick<PostAnswer, 'tell' | 'pause' | 'answer' | 'drop'>,
    caller: string,
    private readonly send?: (id: RequestId, ...asked: Parameters<AskClient>) => ReturnType<AskClient>,
  ) {
    super(caller);
  }

  get ask(): AskClient | undefined {
    const { id, send } = this;
    return send && ((...asked) => this.asked(() => send(id, ...asked)));
  }

  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    this.answer.tell(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  pause(retryMs: number): void {
    this.answer.pause(retryMs);
  }

  /**
   * Runs the call and answers it.
   * @param running counts the call while it runs
   * @throws Error if the answer cannot be written
   */
  async run(
    server: McpServerInstance,
    call: McpCall,
    running: Pick<RunningWork<RunningCall>, 'add' | 'delete'> = server.running,
  ): Promise<void> {
    try {
      this.called = call;
      running.add(this);
      const { json, status, headers } = await answerInJson(server, call);
      if (this.ends()) this.answer.answer(json, status, headers);
    } catch (error) {
      if (this.isOver) throw error;
      this.fail(error as McpException);
    } finally {
      running.delete(this);
      // The response may keep this object for longer than the request.
      this.called = undefined;
    }
  }

  /** Ends the call without an answer, because the client no longer needs it. */
  cancel(reason?: unknown): void {
    if (!this.ends()) return;
    this.abort(reason);
    this.answer.drop();
  }

  protected fail(error: McpException): void {
    const { json, status } = encodeFailure({ requestId: this.id, era: this.era, method: '' }, error);
    if (this.ends()) this.answer.answer(json, status);
  }

  /** Whether the call ends now, and has not ended before. */
  private ends(): boolean {
    const { isOver } = this;
    this.isOver = true;
    return !isOver;
  }
}
