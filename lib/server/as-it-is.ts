import type { Result } from '@modelcontextprotocol/server';

interface ResultSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: Result };
    readonly types?: { readonly input: unknown; readonly output: Result };
  };
}

/** Lets the answer to a request through as it came: whoever asked checks it, and nothing gets lost on the way. */
export const AS_IT_IS: ResultSchema = {
  '~standard': {
    version: 1,
    vendor: 'nestjs-mcp',
    validate: value => ({ value: value as Result }),
  },
};
