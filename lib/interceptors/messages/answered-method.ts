import { inputResponse, type InputResponseView } from '@modelcontextprotocol/server';
import type { InputEvent } from '../protocol/events.js';

/** By what an answer looks like: it does not say what it is one to. */
const METHOD_OF: Partial<Record<InputResponseView['kind'], InputEvent>> = {
  elicit: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

export const answeredMethod = (
  responses: Readonly<Record<string, unknown>>,
  key: string,
): InputEvent | undefined => METHOD_OF[inputResponse(responses, key).kind];
