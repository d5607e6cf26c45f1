import type {
  ArrowFunction,
  FunctionDeclaration,
  MethodDeclaration,
  CallExpression,
  Node,
  ObjectLiteralExpression,
  ParameterDeclaration,
} from 'ts-morph';
import { outdented, propertyOf, usesOf, valueOf, type FileJob } from './file-job.js';
import { renameParameters, requestStatement } from './handlers.js';

const KINDS: Readonly<Record<string, 'tool' | 'resource' | 'prompt'>> = {
  Tool: 'tool',
  Resource: 'resource',
  Prompt: 'prompt',
};

const ACCESS = ['isPublic', 'requiredScopes', 'requiredRoles', 'requiredScopesMatch', 'requiredRolesMatch'];

/** Handlers at run time: `registerTool()`, `removeTool()` and the others become `add()` and `remove()`. */
export function convertRegistry(job: FileJob): void {
  if (!job.imports('McpRegistryService', 'McpStrategy', 'MCP_STRATEGY')) return;
  convertInjection(job);
  for (;;) {
    const call = job.file
      .getDescendantsOfKind(job.morph.SyntaxKind.CallExpression)
      .find(one => /\.(register|remove)(Tool|Resource|Prompt)$/.test(one.getExpression().getText()));
    if (!call) return;
    convertCall(job, call);
  }
}

function convertInjection(job: FileJob): void {
  const { SyntaxKind } = job.morph;
  for (const parameter of job.file.getDescendantsOfKind(SyntaxKind.Parameter)) {
    const type = parameter.getTypeNode();
    if (!['McpRegistryService', 'McpStrategy'].includes(job.peerName(type?.getText() ?? '') ?? '')) continue;
    parameter.getDecorator('Inject')?.remove();
    type?.replaceWithText('McpServerRegistry');
    job.changed(['McpServerRegistry']);
  }
}

function convertCall(job: FileJob, call: CallExpression): void {
  const { Node } = job.morph;
  const [, object, verb, what] = /^([\s\S]*)\.(register|remove)(\w+)$/.exec(call.getExpression().getText())!;
  const kind = KINDS[what ?? ''];
  const [argument] = call.getArguments();
  job.changed();
  if (verb === 'remove') {
    job.note(call, 'remove() throws if the handler does not exist');
    return void call.replaceWithText(`${object}.remove('${kind}', ${argument?.getText() ?? ''})`);
  }
  if (!argument || !Node.isObjectLiteralExpression(argument)) {
    job.note(call, 'pass the options and the handler apart: add(kind, options, handler)');
    return void call.replaceWithText(`${object}.add('${kind}', ${argument?.getText() ?? ''})`);
  }
  const handler = handlerOf(job, argument, kind ?? 'tool');
  for (const name of ACCESS) if (propertyOf(job.morph, argument, name)) job.note(call, accessNote(name));
  call.getExpression().replaceWithText(`${object}.add`);
  call.insertArgument(0, `'${kind}'`);
  call.addArgument(outdented(handler, call.getIndentationText()));
  const statement = call.getParent();
  if (!Node.isExpressionStatement(statement)) return;
  const isAsync = statement
    .getFirstAncestor(isFunction(job))
    ?.getFirstModifierByKind(job.morph.SyntaxKind.AsyncKeyword);
  statement.replaceWithText(
    `${isAsync ? 'await' : 'void'} ${outdented(statement.getText(), statement.getIndentationText())}`,
  );
}

const isFunction =
  ({ morph }: FileJob) =>
  (node: Node): node is MethodDeclaration | ArrowFunction | FunctionDeclaration =>
    morph.Node.isMethodDeclaration(node) ||
    morph.Node.isArrowFunction(node) ||
    morph.Node.isFunctionDeclaration(node);

const accessNote = (name: string) =>
  `"${name}" is no option: decorate the handler, as in RequireScopes('a')(handler), or pass "guards" and "visible"`;

/** Takes the handler out of the options. @returns its text */
function handlerOf(
  job: FileJob,
  options: ObjectLiteralExpression,
  kind: 'tool' | 'resource' | 'prompt',
): string {
  const { Node } = job.morph;
  renameParameters(job, options, kind === 'prompt' ? 'argsSchema' : 'inputSchema');
  const property = propertyOf(job.morph, options, 'handler');
  if (!property) return '() => undefined';
  const initializer = Node.isPropertyAssignment(property) ? property.getInitializer() : undefined;
  const fn =
    initializer && (Node.isArrowFunction(initializer) || Node.isFunctionExpression(initializer))
      ? initializer
      : Node.isMethodDeclaration(property)
        ? property
        : undefined;
  if (fn) convertParameters(job, fn, options, kind);
  const text = Node.isMethodDeclaration(property)
    ? `${property.isAsync() ? 'async ' : ''}(${property
        .getParameters()
        .map(one => one.getText())
        .join(', ')}) => ${property.getBodyText() === undefined ? '{}' : property.getBodyOrThrow().getText()}`
    : (valueOf(job.morph, options, 'handler') ?? 'handler');
  propertyOf(job.morph, options, 'handler')?.remove();
  return text;
}

type Handler = Node & {
  getParameters(): ParameterDeclaration[];
  getBody(): Node | undefined;
  insertStatements(index: number, text: string): unknown;
};

function convertParameters(job: FileJob, fn: Handler, options: ObjectLiteralExpression, kind: string): void {
  const [args, context, request] = fn.getParameters();
  if (args && !args.getTypeNode())
    args.setType(kind === 'prompt' ? 'Record<string, string>' : 'Record<string, any>');
  if (context && !context.getTypeNode()) context.setType('McpContext');
  if (context) job.changed(['McpContext']);
  if (request && context) {
    const name = request.getName();
    const uses = usesOf(job.morph, fn.getBody(), name);
    if (uses.length > 0 && job.morph.Node.isBlock(fn.getBody()))
      fn.insertStatements(0, requestStatement(job, request, context.getName()));
    else for (const use of uses) use.replaceWithText(`(${context.getName()}.request as any)`);
    request.remove();
  }
  const schema = kind === 'prompt' ? 'argsSchema' : 'inputSchema';
  if (args && kind !== 'resource' && !propertyOf(job.morph, options, schema))
    options.addPropertyAssignment({ name: schema, initializer: "{ type: 'object' }" });
  if (args && kind === 'resource')
    job.note(fn, 'the handler of a resource gets no URI and no variables: add a resource template for them');
}
