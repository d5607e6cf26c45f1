/** The lists of a server: the member of the result with the rows, the key of a row, and the capability. */
export const LISTS = {
  'tools/list': { member: 'tools', key: 'name', capability: 'tools' },
  'prompts/list': { member: 'prompts', key: 'name', capability: 'prompts' },
  'resources/list': { member: 'resources', key: 'uri', capability: 'resources' },
  'resources/templates/list': { member: 'resourceTemplates', key: 'uriTemplate', capability: 'resources' },
} as const;

/** The methods during which the server may ask the client for input. */
const CALLS = ['tools/call', 'prompts/get', 'resources/read'];

export type ListMethod = keyof typeof LISTS;
export type Row = Readonly<Record<string, unknown>>;

export const isList = (method: string): method is ListMethod => Object.hasOwn(LISTS, method);

export const isCall = (method: string): boolean => CALLS.includes(method);

/** The capability that a server with this method has. */
export function capabilityOf(method: string): string {
  const [kind] = method.split('/');
  return kind === 'completion' ? 'completions' : kind;
}

/** The rows of a list's result. */
export function rowsOf(method: ListMethod, result: unknown): readonly Row[] {
  const rows = (result as Row)[LISTS[method].member];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}
