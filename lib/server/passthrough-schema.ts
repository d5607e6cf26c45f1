import type { Result } from '@modelcontextprotocol/server';

interface ResultSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: Result };
    readonly types?: { readonly input: unknown; readonly output: Result };
  };
}

/** Schema that accepts any value unchanged; the caller validates it. */
export const passthroughSchema: ResultSchema = {
  '~standard': {
    version: 1,
    vendor: 'nestjs-mcp',
    validate: value => ({ value: value as Result }),
  },
};
