import { isInputRequiredResult, type Result } from '@modelcontextprotocol/server';
import { isRoundEnd } from '../elicitation/requests/input-required.exception.js';
import type { CurrentRound } from '../elicitation/replay/current-round.js';
import type { AskingHandler } from '../elicitation/round-engine.js';
import type { Rounds } from '../elicitation/rounds.js';
import type { RunHandler } from '../execution/handler-executor.js';
import { McpContext } from '../execution/mcp-context.js';
import type { HandlerCall } from '../execution/mcp-execution-context.js';
import type { HeaderParam } from '../protocol/header-param.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall } from '../protocol/mcp-call.js';

/** A handler that a call runs. */
export interface RunnableHandler extends AskingHandler {
  readonly run: RunHandler;
  readonly headerParams?: readonly HeaderParam[];
}

type HandlerInput = Pick<HandlerCall, 'data' | 'variables'>;

/** Runs handlers. Those that can ask their client run in rounds. */
export class HandlerRunner {
  constructor(
    private readonly changes: ChangeNotifier,
    private readonly rounds: Rounds,
  ) {}

  run(
    handler: RunnableHandler,
    call: McpCall,
    input: HandlerInput,
    convert: (value: unknown) => Result | Promise<Result>,
  ): Promise<Result> {
    if (!handler.run.canAsk && !isLaterRound(call)) return this.runOnce(handler, call, input, convert);
    const work = (round: CurrentRound, own: McpCall) =>
      handler.run(this.callOf(handler, own, input, call.lifecycle, round));
    return this.asked(handler, call, work, convert);
  }

  private callOf(
    { headerParams }: RunnableHandler,
    call: McpCall,
    { data, variables }: HandlerInput,
    lifecycle: McpCall['lifecycle'],
    round?: CurrentRound,
  ): HandlerCall {
    const context = new McpContext(call, this.changes, round, headerParams, data);
    return { data, variables, context, round, lifecycle };
  }

  /** Runs a handler that does not ask its client, as far as is known. */
  private async runOnce(
    handler: RunnableHandler,
    call: McpCall,
    input: HandlerInput,
    convert: (value: unknown) => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      const value = await handler.run(this.callOf(handler, call, input, call.lifecycle));
      if (isInputRequiredResult(value)) return await this.asked(handler, call, () => Promise.resolve(value));
      const result = convert(value);
      return result instanceof Promise ? await result : result;
    } catch (thrown) {
      if (!isRoundEnd(thrown)) throw thrown;
      return this.asked(handler, call, async () => {
        throw thrown;
      });
    }
  }

  /** Runs one round of a handler that asks its client, or has asked it in an earlier round. */
  private async asked(
    handler: RunnableHandler,
    call: McpCall,
    work: Parameters<Rounds['run']>[2],
    convert: (value: unknown) => Result | Promise<Result> = value => value as Result,
  ): Promise<Result> {
    const outcome = await this.rounds.run(handler, call, work);
    return 'required' in outcome ? outcome.required : convert(outcome.value);
  }
}

const isLaterRound = ({ inputResponses, requestState, memory }: McpCall): boolean =>
  inputResponses !== undefined || requestState !== undefined || memory?.journal !== undefined;
