import { inputResponse, type InputResponseView } from '@modelcontextprotocol/server';

/** What a client may be asked, by what its answer looks like: an answer does not say what it is one to. */
const METHOD_OF: Partial<Record<InputResponseView['kind'], string>> = {
  elicit: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

/** The events of what a client may be asked while it waits for an answer. */
export const INPUT_EVENTS: readonly string[] = Object.values(METHOD_OF);

/** What an entry of `inputResponses` answers; undefined for one that is no answer. */
export const answeredMethod = (
  responses: Readonly<Record<string, unknown>>,
  key: string,
): string | undefined => METHOD_OF[inputResponse(responses, key).kind];
