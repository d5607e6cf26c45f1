import type { Decorator, MethodDeclaration, ObjectLiteralExpression, ParameterDeclaration } from 'ts-morph';
import { convertContext } from './context.js';
import { literalOf, propertyOf, usesOf, valueOf, type FileJob } from './file-job.js';
import { convertArguments, type Kind } from './resource-arguments.js';

/** Names of servers of 2.x by the `server` that its controllers select. */
export type Servers = ReadonlyMap<string, string>;

const KINDS: Readonly<Record<string, Kind>> = {
  Tool: 'tool',
  Prompt: 'prompt',
  Resource: 'resource',
  ResourceTemplate: 'template',
};

type Role = 'args' | 'context' | 'request' | 'uri';

const ROLES: Readonly<Record<string, Role>> = {
  'microservices Payload': 'args',
  'microservices Ctx': 'context',
  McpRawRequest: 'request',
};

/** Converts the methods with `@Tool()`, `@Prompt()`, `@Resource()` and `@ResourceTemplate()`, and their classes. */
export function convertHandlers(job: FileJob, servers: Servers): void {
  for (const declaration of job.file.getDescendantsOfKind(job.morph.SyntaxKind.ClassDeclaration)) {
    const server = convertController(job, declaration.getDecorators(), servers);
    for (const method of declaration.getMethods()) {
      const decorator = method.getDecorators().find(one => KINDS[job.peerName(one.getName()) ?? '']);
      if (!decorator) continue;
      const kind = KINDS[job.peerName(decorator.getName()) ?? ''];
      const options = optionsOf(job, decorator, kind);
      if (server && options)
        options.addPropertyAssignment({
          name: 'server',
          initializer: JSON.stringify(server).replaceAll('"', "'"),
        });
      convertParameters(job, method, kind, options);
      convertAccess(job, method);
    }
  }
}

/** `@McpController()` becomes `@Injectable()`. @returns the name of the server that it selects */
function convertController(job: FileJob, decorators: Decorator[], servers: Servers): string | undefined {
  const { Node } = job.morph;
  const decorator = decorators.find(one => job.peerName(one.getName()) === 'McpController');
  if (!decorator) return undefined;
  const [argument] = decorator.getArguments();
  const options = argument && Node.isObjectLiteralExpression(argument) ? argument : undefined;
  const scope = options && valueOf(job.morph, options, 'scope');
  const server = literalOf(options && valueOf(job.morph, options, 'server'));
  decorator.replaceWithText(scope ? `@Injectable({ scope: ${scope} })` : '@Injectable()');
  job.changed(['Injectable'], '@nestjs/common');
  return server === undefined ? undefined : (servers.get(server) ?? server);
}

function optionsOf(job: FileJob, decorator: Decorator, kind: Kind): ObjectLiteralExpression | undefined {
  job.changed([decorator.getName()]);
  const [argument] = decorator.getArguments();
  if (!argument || !job.morph.Node.isObjectLiteralExpression(argument)) {
    if (argument && kind !== 'resource')
      job.note(decorator, `rename "parameters" to "${schemaName(kind)}" where these options are made`);
    return undefined;
  }
  renameParameters(job, argument, schemaName(kind));
  const template = propertyOf(job.morph, argument, 'uriTemplate');
  if (template && /\{\w+\*\}/.test(template.getText())) {
    template.replaceWithText(template.getText().replaceAll(/\{(\w+)\*\}/g, '{+$1}'));
    job.changed();
  }
  return argument;
}

const schemaName = (kind: Kind) => (kind === 'prompt' ? 'argsSchema' : 'inputSchema');

export function renameParameters(job: FileJob, options: ObjectLiteralExpression, name: string): void {
  const property = propertyOf(job.morph, options, 'parameters');
  if (!property) return;
  if (job.morph.Node.isPropertyAssignment(property)) property.getNameNode().replaceWithText(name);
  else property.replaceWithText(`${name}: parameters`);
  job.changed();
}

function convertParameters(
  job: FileJob,
  method: MethodDeclaration,
  kind: Kind,
  options: ObjectLiteralExpression | undefined,
): void {
  const roles = rolesOf(job, method, kind);
  const find = (role: Role) => method.getParameters().find((_, index) => roles[index] === role);
  const [args, context, request, uri] = [find('args'), find('context'), find('request'), find('uri')];
  const body = method.getBody();
  const isUsed = (parameter: ParameterDeclaration | undefined) =>
    parameter !== undefined && namesOf(job, parameter).some(name => usesOf(job.morph, body, name).length > 0);

  const needsRequest = isUsed(request);
  let contextName = context?.getName();
  if (context && (isUsed(context) || needsRequest)) decorate(job, context, 'Ctx');
  else if (context) remove(job, context);
  if (request) {
    if (needsRequest) {
      if (contextName === undefined) {
        contextName = 'context';
        method.insertParameter(method.getParameters().indexOf(request), {
          name: contextName,
          type: 'McpContext',
        });
        decorate(job, method.getParameterOrThrow(contextName), 'Ctx');
      }
      method.insertStatements(0, requestStatement(job, request, contextName));
    }
    remove(job, request);
  }
  if (args) {
    if (kind === 'tool' || kind === 'prompt') convertPayload(job, args, isUsed(args), kind, options);
    else convertArguments(job, method, args, kind, options);
  }
  if (uri) {
    const value = literalOf(options && valueOf(job.morph, options, 'uri'));
    if (isUsed(uri) && value !== undefined) {
      const isUrl = uri.getTypeNode()?.getText() === 'URL';
      method.insertStatements(0, `const ${uri.getName()} = ${isUrl ? `new URL('${value}')` : `'${value}'`};`);
    } else if (isUsed(uri))
      job.note(method, `a template gets no URI: make "${uri.getName()}" from the variables`);
    remove(job, uri);
  }
  convertContext(job, method);
}

/** The roles by decorators, in 2.x; by position; or, in the official package, by position and type. */
function rolesOf(job: FileJob, method: MethodDeclaration, kind: Kind): (Role | undefined)[] {
  const parameters = method.getParameters();
  if (parameters.some(one => one.getDecorators().length > 0))
    return parameters.map(one =>
      one
        .getDecorators()
        .map(decorator => ROLES[job.peerName(decorator.getName()) ?? ''])
        .find(Boolean),
    );
  if (!job.isOfficial) return parameters.map((_, index) => (['args', 'context', 'request'] as const)[index]);
  return parameters.map((one, index) => {
    const type = one.getTypeNode()?.getText() ?? '';
    if (/Context\b/.test(type) || /^_?(ctx|context)$/.test(one.getName())) return 'context';
    if (kind !== 'tool' && kind !== 'prompt' && (type === 'URL' || /^_?uri$/.test(one.getName())))
      return 'uri';
    return index < 2 ? 'args' : undefined;
  });
}

function convertPayload(
  job: FileJob,
  args: ParameterDeclaration,
  isUsed: boolean,
  kind: 'tool' | 'prompt',
  options: ObjectLiteralExpression | undefined,
): void {
  const hasSchema = !options || propertyOf(job.morph, options, schemaName(kind)) !== undefined;
  if (!isUsed && !hasSchema) return remove(job, args);
  decorate(job, args, 'Args');
  if (!hasSchema) {
    options?.addPropertyAssignment({ name: schemaName(kind), initializer: "{ type: 'object' }" });
    job.changed();
  }
}

/** Replaces the decorators that a role has by one of this package; its pipes stay. */
export function decorate(job: FileJob, parameter: ParameterDeclaration, name: string): void {
  const old = parameter.getDecorators().find(one => ROLES[job.peerName(one.getName()) ?? '']);
  const pipes = old?.getArguments().map(one => one.getText()) ?? [];
  old?.remove();
  parameter.addDecorator({ name, arguments: pipes });
  const type = parameter.getTypeNode();
  if (name === 'Ctx' && type && ['Context', 'McpContext'].includes(job.peerName(type.getText()) ?? ''))
    type.replaceWithText('McpContext');
  job.changed([name, 'McpContext']);
}

export function remove(job: FileJob, parameter: ParameterDeclaration): void {
  parameter.remove();
  job.changed();
}

/** The statement that reads what was a parameter. */
export function requestStatement(job: FileJob, request: ParameterDeclaration, context: string): string {
  const text = request.getTypeNode()?.getText() ?? 'any';
  const isUserRequest = job.peerName(text) === 'McpRequestWithUser';
  if (isUserRequest) job.changed(['Request'], 'express');
  const type = isUserRequest ? 'Request & { user?: any }' : text;
  return `const ${request.getNameNode().getText()} = ${context}.request as ${type};`;
}

/** The names that a parameter declares. */
export function namesOf(job: FileJob, parameter: ParameterDeclaration): string[] {
  const name = parameter.getNameNode();
  if (!job.morph.Node.isObjectBindingPattern(name)) return [name.getText()];
  return name.getElements().map(one => one.getName());
}

/** Guards, scopes and roles of a tool. */
function convertAccess(job: FileJob, method: MethodDeclaration): void {
  const { Node } = job.morph;
  for (const decorator of method.getDecorators()) {
    const name = job.peerName(decorator.getName());
    const [list, match] = decorator.getArguments();
    const items = list && Node.isArrayLiteralExpression(list) ? list.getElements() : undefined;
    const entries = items?.map(one => one.getText()).join(', ') ?? `...${list?.getText() ?? '[]'}`;
    if (name === 'ToolGuards') {
      decorator.replaceWithText(`@UseGuards(${entries})`);
      job.changed(['UseGuards'], '@nestjs/common');
    } else if (name === 'PublicTool') {
      decorator.replaceWithText('@AllowAnonymous()');
      job.changed(['AllowAnonymous'], 'nestjs-mcp/auth');
    } else if (name === 'ToolScopes') {
      if (match)
        job.note(method, `@RequireScopes() needs all scopes: decide what replaces ${match.getText()}`);
      decorator.replaceWithText(`@RequireScopes(${entries})`);
      job.changed(['RequireScopes'], 'nestjs-mcp/auth');
    }
  }
}
