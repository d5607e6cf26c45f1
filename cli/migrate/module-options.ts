import type { Node, ObjectLiteralExpression } from 'ts-morph';
import { literalOf, outdented, propertyOf, valueOf, type FileJob } from './file-job.js';

/** The options of this package, as texts, in the order in which they are written. */
export interface Written {
  http: Map<string, string> | false;
  rest: Map<string, string>;
}

const NOTES: Readonly<Record<string, string>> = {
  serverMutator: 'there is no McpServer to change (serverMutator): an interceptor sees every request',
  description:
    'McpModule has no "description": the package.json has one for the registry, and "instructions" is for the model',
  logging: 'there is no option "logging": the Logger of the application decides what is logged',
  allowUnauthenticatedAccess:
    'allowUnauthenticatedAccess is the option "anonymous" of McpAuthModule: import it with guardVerifier() for your guard',
  httpAdapter: 'there is no option "httpAdapter": the application that imports the module serves it',
  extraProviders: 'list these providers in a module of "imports", and inject them',
};

/** Options that have another form here. */
const KEYS = ['capabilities'];

const KEPT = ['name', 'version', 'title', 'instructions', 'icons', 'websiteUrl'];

/** Converts the options of `McpModule.forRoot()`. @param isAsync whether a factory makes them */
export function convertModuleOptions(job: FileJob, options: ObjectLiteralExpression, isAsync = false): void {
  if (job.isOfficial) return convertOfficial(job, options);
  const { http, rest } = read(job, options);
  const value = (name: string) => valueOf(job.morph, options, name);
  const endpoint = value('mcpEndpoint');
  const prefix = value('apiPrefix');
  if (http && (endpoint !== undefined || prefix !== undefined))
    http.set('path', pathOf(job, options, prefix, endpoint));
  const guards = value('guards');
  const decorators = listOf(value('decorators'));
  if (guards !== undefined) {
    const classes = listOf(guards);
    decorators.push(`UseGuards(${classes.join(', ')})`);
    job.changed(['UseGuards'], '@nestjs/common');
  }
  const transport = value('transport');
  const streamable = propertyValue(job, options, 'streamableHttp');
  const isStateless = streamable
    ? valueOf(job.morph, streamable, 'statelessMode')
    : (value('streamableHttp') ?? 'true');
  const written = writeTransport(job, options, { http, rest }, transport);
  if (written.http && isStateless !== undefined && isStateless !== 'false')
    rest.set(
      'legacy',
      /^(true|'.*')$/.test(isStateless) ? "'stateless'" : `${isStateless} ? 'stateless' : 'sessions'`,
    );
  if (written.http && decorators.length > 0) {
    if (isAsync)
      job.note(
        options,
        `decorators of a factory come too late: pass decorators: [${decorators.join(', ')}] beside it`,
      );
    else written.http.set('decorators', `[${decorators.join(', ')}]`);
  }
  rewrite(job, options, written);
}

function writeTransport(
  job: FileJob,
  options: ObjectLiteralExpression,
  written: Written,
  transport: string | undefined,
): Written {
  if (transport === undefined) return written;
  const kinds = [...transport.matchAll(/\.(SSE|STREAMABLE_HTTP|STDIO)\b/g)].map(([, kind]) => kind);
  if (kinds.length === 0)
    job.note(
      options,
      `"transport" was ${transport}: delete the controllers that serve MCP, because the module serves it`,
    );
  if (kinds.includes('SSE'))
    job.note(options, 'HTTP+SSE (/sse, /messages) is not served: clients connect to the path of "http"');
  if (kinds.includes('STDIO')) written.rest.set('stdio', 'true');
  const isStdio = kinds.length > 0 && kinds.every(kind => kind === 'STDIO');
  return isStdio ? { ...written, http: false } : written;
}

/** Reads what stays, and leaves comments for what has no counterpart. */
export function read(
  job: FileJob,
  options: ObjectLiteralExpression,
): { http: Map<string, string>; rest: Map<string, string> } {
  const rest = new Map<string, string>();
  for (const property of options.getProperties()) {
    if (job.morph.Node.isSpreadAssignment(property)) {
      job.note(property, 'rename the options of this object, too');
      rest.set(property.getText(), '');
      continue;
    }
    const name = property.getName();
    const value = valueOf(job.morph, options, name);
    if (KEPT.includes(name)) rest.set(name, value ?? property.getText());
    else if (name === 'cacheHints') rest.set('cache', value ?? name);
    else if (name === 'capabilities') capabilities(job, options, rest);
    else if (NOTES[name] && value !== 'false') job.note(options, NOTES[name]);
  }
  return { http: new Map(), rest };
}

/** Declared capabilities are true here; logging needs none. */
function capabilities(job: FileJob, options: ObjectLiteralExpression, rest: Map<string, string>): void {
  const object = propertyValue(job, options, 'capabilities');
  if (!object) return job.note(options, 'write "capabilities" as { tools: true }');
  const names = object
    .getProperties()
    .map(one => (job.morph.Node.isSpreadAssignment(one) ? '' : one.getName()))
    .filter(name => ['tools', 'prompts', 'resources', 'completions'].includes(name));
  if (names.length > 0) rest.set('capabilities', `{ ${names.map(name => `${name}: true`).join(', ')} }`);
}

function convertOfficial(job: FileJob, options: ObjectLiteralExpression): void {
  const value = (name: string) => valueOf(job.morph, options, name);
  const [path, decorators] = [value('path'), value('decorators')];
  const rest = new Map<string, string>();
  for (const property of options.getProperties()) {
    const isSpread = job.morph.Node.isSpreadAssignment(property);
    const name = isSpread ? property.getText() : property.getName();
    if (name === 'path' || name === 'decorators') continue;
    rest.set(name, isSpread ? '' : (value(name) ?? property.getText()));
    if (!isSpread && !KEPT.includes(name))
      job.note(property, `look for the counterpart of "${name}" in the options of McpModule`);
  }
  rest.set('legacy', "'stateless'");
  const http = new Map<string, string>();
  if (path !== undefined) http.set('path', slashed(path));
  if (decorators !== undefined) http.set('decorators', decorators);
  rewrite(job, options, { http: path === 'false' ? false : http, rest });
}

/** Writes the options, and leaves those that stay as they are. */
export function rewrite(job: FileJob, options: ObjectLiteralExpression, { http, rest }: Written): void {
  for (const property of options.getProperties()) {
    if (job.morph.Node.isSpreadAssignment(property)) continue;
    const name = property.getName();
    if (!rest.has(name) || (rest.get(name) !== valueOf(job.morph, options, name) && KEYS.includes(name)))
      property.remove();
  }
  const added = new Map(rest);
  if (http === false) added.set('http', 'false');
  else if (http.size > 0)
    added.set('http', `{ ${[...http].map(([name, value]) => `${name}: ${value}`).join(', ')} }`);
  const indentation = options.getIndentationText();
  for (const [name, value] of added)
    if (value !== '' && !propertyOf(job.morph, options, name))
      options.insertPropertyAssignment(placeIn(options), {
        name,
        initializer: outdented(value, indentation),
      });
  job.changed();
}

/** `ts-morph` cannot insert behind comments at the end. */
function placeIn(options: ObjectLiteralExpression): number {
  const members = options.getPropertiesWithComments();
  const last = options.getProperties().at(-1);
  return last === undefined || members.at(-1) === last ? members.length : members.indexOf(last);
}

function pathOf(
  job: FileJob,
  options: ObjectLiteralExpression,
  prefix: string | undefined,
  endpoint = "'mcp'",
): string {
  if (prefix === undefined) return slashed(endpoint);
  const [first, second] = [literalOf(prefix), literalOf(endpoint)];
  if (first !== undefined && second !== undefined) return `'/${[first, second].map(trimmed).join('/')}'`;
  job.note(options, 'check the path: it joins "apiPrefix" and "mcpEndpoint"');
  return `\`/\${${prefix}}/\${${endpoint}}\``;
}

/** A path begins with a slash. */
export function slashed(text: string): string {
  const literal = literalOf(text);
  return literal === undefined ? text : `'/${trimmed(literal)}'`;
}

const trimmed = (path: string) => path.replace(/^\/+|\/+$/g, '');

export function propertyValue(
  job: FileJob,
  options: ObjectLiteralExpression,
  name: string,
): ObjectLiteralExpression | undefined {
  const { Node } = job.morph;
  const property = propertyOf(job.morph, options, name);
  const value: Node | undefined =
    property && Node.isPropertyAssignment(property) ? property.getInitializer() : undefined;
  return value && Node.isObjectLiteralExpression(value) ? value : undefined;
}

/** The entries of the text of a list. */
export function listOf(text: string | undefined): string[] {
  if (text === undefined || /^\[\s*\]$/.test(text)) return [];
  const inner = /^\[([\s\S]*?),?\s*\]$/.exec(text)?.[1];
  return [inner === undefined ? `...${text}` : inner.trim()];
}
