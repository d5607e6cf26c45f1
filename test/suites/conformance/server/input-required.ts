import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type InputRequests,
  type PrimitiveSchemaDefinition,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { Ctx, McpErrorCode, McpException, Prompt, Tool, type McpContext } from 'nestjs-mcp';

interface State {
  readonly nonce: string;
  readonly round?: number;
  readonly name?: string;
}

const codec = createRequestStateCodec<State>({ key: randomBytes(32) });

/** The codec looks at the context only where it binds the state to something in it. */
const UNBOUND = {} as ServerContext;

const seal = (state: Omit<State, 'nonce'> = {}): Promise<string> =>
  codec.mint({ nonce: randomUUID(), ...state });

/** The state that the client brought back, if it brought any. */
async function open(ctx: McpContext): Promise<State | undefined> {
  const sealed = ctx.requestState<string>();
  if (sealed === undefined) return undefined;
  try {
    return await codec.verify(sealed, UNBOUND);
  } catch {
    throw new McpException(
      McpErrorCode.InvalidParams,
      'The request state is not one that this server issued',
    );
  }
}

const question = (message: string, field: string, schema: PrimitiveSchemaDefinition = { type: 'string' }) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: schema }, required: [field] },
  });

const askName = question('What is your name?', 'name');
const askConsent = question('Please confirm', 'ok', { type: 'boolean' });
const askGreeting = inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }],
  maxTokens: 50,
});

/** One field of an accepted form. */
const answerOf = (ctx: McpContext, key: string, field: string): unknown =>
  acceptedContent(ctx.inputResponses, key)?.[field];

/** Calls that take several rounds (2026-07-28). */
@Injectable()
export class InputRequired {
  @Tool({ name: 'test_input_required_result_elicitation', description: 'Asks the user, then greets' })
  elicitation(@Ctx() ctx: McpContext) {
    const name = answerOf(ctx, 'user_name', 'name');
    return typeof name === 'string'
      ? `Hello, ${name}!`
      : inputRequired({ inputRequests: { user_name: askName } });
  }

  @Tool({ name: 'test_input_required_result_sampling', description: "Asks the client's model" })
  sampling(@Ctx() { inputResponses }: McpContext) {
    const answer = inputResponse(inputResponses, 'capital_question');
    if (answer.kind === 'sampling') return JSON.stringify(answer.result.content);
    const capital_question = inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
      maxTokens: 100,
    });
    return inputRequired({ inputRequests: { capital_question } });
  }

  @Tool({ name: 'test_input_required_result_list_roots', description: "Asks for the client's roots" })
  listRoots(@Ctx() { inputResponses }: McpContext) {
    const answer = inputResponse(inputResponses, 'client_roots');
    return answer.kind === 'roots'
      ? answer.roots.map(({ uri }) => uri).join('\n')
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  }

  @Tool({ name: 'test_input_required_result_request_state', description: 'Asks, and hands out state' })
  async requestState(@Ctx() ctx: McpContext) {
    if ((await open(ctx)) && answerOf(ctx, 'confirm', 'ok') !== undefined) return 'state-ok';
    return inputRequired({ inputRequests: { confirm: askConsent }, requestState: await seal() });
  }

  @Tool({ name: 'test_input_required_result_tampered_state', description: 'Refuses state of another origin' })
  tamperedState(@Ctx() ctx: McpContext) {
    return this.requestState(ctx);
  }

  @Tool({ name: 'test_input_required_result_multiple_inputs', description: 'Asks for three things at once' })
  async multipleInputs(@Ctx() ctx: McpContext) {
    await open(ctx);
    const name = answerOf(ctx, 'user_name', 'name');
    const greeting = inputResponse(ctx.inputResponses, 'greeting');
    const roots = inputResponse(ctx.inputResponses, 'client_roots');
    if (typeof name === 'string' && greeting.kind === 'sampling' && roots.kind === 'roots') {
      return `${name} has ${roots.roots.length} root(s) and is greeted with ${JSON.stringify(greeting.result.content)}`;
    }
    return inputRequired({
      inputRequests: { user_name: askName, greeting: askGreeting, client_roots: inputRequired.listRoots() },
      requestState: await seal(),
    });
  }

  @Tool({ name: 'test_input_required_result_multi_round', description: 'Asks twice' })
  async multiRound(@Ctx() ctx: McpContext) {
    const { round = 1, name } = (await open(ctx)) ?? {};
    const given = answerOf(ctx, 'step1', 'name');
    const color = answerOf(ctx, 'step2', 'color');
    if (round === 2 && typeof color === 'string') return `${name} likes ${color}`;
    if (round === 2 || typeof given === 'string') {
      return inputRequired({
        inputRequests: { step2: question('Step 2: What is your favorite color?', 'color') },
        requestState: await seal({ round: 2, name: name ?? String(given) }),
      });
    }
    return inputRequired({
      inputRequests: { step1: question('Step 1: What is your name?', 'name') },
      requestState: await seal({ round: 1 }),
    });
  }

  @Tool({
    name: 'test_input_required_result_capabilities',
    description: 'Asks only for what the client declared that it can give',
  })
  capabilities(@Ctx() { inputResponses, clientCapabilities }: McpContext) {
    if (inputResponses !== undefined) return 'Answered';
    const inputRequests: InputRequests = {
      ...(clientCapabilities?.elicitation && { user_name: askName }),
      ...(clientCapabilities?.sampling && { greeting: askGreeting }),
      ...(clientCapabilities?.roots && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length > 0
      ? inputRequired({ inputRequests })
      : 'The client can give nothing';
  }

  @Prompt({
    name: 'test_input_required_result_prompt',
    description: 'Asks the user what the prompt is about',
  })
  prompt(@Ctx() ctx: McpContext) {
    const context = answerOf(ctx, 'user_context', 'context');
    return typeof context === 'string'
      ? `Keep in mind: ${context}`
      : inputRequired({
          inputRequests: { user_context: question('What context should the prompt use?', 'context') },
        });
  }
}
