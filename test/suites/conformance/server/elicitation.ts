import { Injectable } from '@nestjs/common';
import {
  inputRequired,
  inputResponse,
  type ElicitInputParams,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import { Args, Ctx, Tool, type McpContext } from 'nestjs-mcp';

type Form = ElicitInputParams['requestedSchema'];

const ACCOUNT: Form = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'What you are called' },
    email: { type: 'string', description: 'Where you can be reached' },
  },
  required: ['username', 'email'],
};

const DEFAULTS: Form = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const OPTIONS = ['option1', 'option2', 'option3'];
const titled = (...titles: string[]) => titles.map((title, i) => ({ const: `value${i + 1}`, title }));

const ENUMS: Form = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: OPTIONS },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
    titledMulti: {
      type: 'array',
      items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') },
    },
  },
};

/**
 * Tools that ask the client for something while they run. They are written once: 2026-07-28 clients get the questions
 * as a result, 2025-era ones as requests of their own.
 */
@Injectable()
export class ElicitationTools {
  @Tool({ name: 'test_sampling', description: "Passes a prompt to the client's model" })
  sampling(@Args('prompt') prompt: string, @Ctx() { inputResponses }: McpContext) {
    const answer = inputResponse(inputResponses, 'completion');
    if (answer.kind === 'sampling') return `LLM response: ${JSON.stringify(answer.result.content)}`;
    const completion = inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
      maxTokens: 100,
    });
    return inputRequired({ inputRequests: { completion } });
  }

  @Tool({ name: 'test_elicitation', description: 'Asks the user for a name and an address' })
  elicitation(@Args('message') message: string, @Ctx() ctx: McpContext) {
    return fill(ctx, message, ACCOUNT, 'User response');
  }

  @Tool({
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks with a form whose fields are filled in',
  })
  defaults(@Ctx() ctx: McpContext) {
    return fill(ctx, 'Check what is filled in', DEFAULTS, 'Elicitation completed');
  }

  @Tool({ name: 'test_elicitation_sep1330_enums', description: 'Asks with a form of choices' })
  enums(@Ctx() ctx: McpContext) {
    return fill(ctx, 'Choose', ENUMS, 'Elicitation completed');
  }
}

/** Has the user fill in a form, and tells what came of it. */
function fill(
  { inputResponses }: McpContext,
  message: string,
  requestedSchema: Form,
  label: string,
): string | InputRequiredResult {
  const answer = inputResponse(inputResponses, 'form');
  if (answer.kind !== 'elicit') {
    return inputRequired({ inputRequests: { form: inputRequired.elicit({ message, requestedSchema }) } });
  }
  return `${label}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
}
