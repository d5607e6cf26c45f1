import type { ClientCapabilities, InputRequest } from '@modelcontextprotocol/server';

type Capabilities = Record<string, Record<string, unknown>>;

/** What a client has to have declared to be asked for something (specification: client/*, capabilities). */
function requiredFor({ method, params }: InputRequest): Capabilities {
  switch (method) {
    case 'elicitation/create':
      return { elicitation: (params as { mode?: string }).mode === 'url' ? { url: {} } : { form: {} } };
    case 'sampling/createMessage': {
      const { tools, toolChoice } = params as { tools?: unknown; toolChoice?: unknown };
      return { sampling: tools === undefined && toolChoice === undefined ? {} : { tools: {} } };
    }
    case 'roots/list':
      return { roots: {} };
  }
}

/** What a client did not declare and would have to; undefined where nothing is missing. */
export function missingCapabilities(
  requests: readonly InputRequest[],
  declared: ClientCapabilities = {},
): ClientCapabilities | undefined {
  const missing: Capabilities = {};
  for (const request of requests) {
    for (const [name, members] of Object.entries(requiredFor(request))) {
      const own = (declared as Partial<Capabilities>)[name];
      const lacking = Object.entries(members).filter(
        ([member]) => own?.[member] === undefined && !isImplied(member, own),
      );
      if (own === undefined || lacking.length > 0)
        missing[name] = { ...missing[name], ...Object.fromEntries(lacking) };
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** Forms are what `elicitation: {}` has always meant. */
const isImplied = (member: string, own: Record<string, unknown> | undefined): boolean =>
  member === 'form' && own !== undefined && Object.keys(own).length === 0;
