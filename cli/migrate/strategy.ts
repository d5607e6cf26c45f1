import type {
  ClassDeclaration,
  NewExpression,
  Node,
  ObjectLiteralExpression,
  Project,
  SourceFile,
  VariableDeclaration,
} from 'ts-morph';
import type { Servers } from './handlers.js';
import { literalOf, outdented, propertyOf, valueOf, type FileJob } from './file-job.js';
import { propertyValue, read, rewrite, slashed, type Written } from './module-options.js';

/** The servers of 2.x in a project, by the name that controllers select. */
export function serversOf(jobs: readonly FileJob[]): Servers {
  return new Map(
    jobs.flatMap(job =>
      strategiesOf(job).flatMap(({ options }) => {
        const [server, name] = [valueOf(job.morph, options, 'server'), valueOf(job.morph, options, 'name')];
        return literalOf(server) !== undefined && literalOf(name) !== undefined
          ? [[literalOf(server)!, literalOf(name)!] as const]
          : [];
      }),
    ),
  );
}

interface Strategy {
  readonly expression: NewExpression;
  readonly options: ObjectLiteralExpression;
}

function strategiesOf(job: FileJob): Strategy[] {
  const { Node, SyntaxKind } = job.morph;
  return job.file
    .getDescendantsOfKind(SyntaxKind.NewExpression)
    .filter(one => job.peerName(one.getExpression().getText()) === 'McpStrategy')
    .flatMap(expression => {
      const [options] = expression.getArguments();
      return options && Node.isObjectLiteralExpression(options) ? [{ expression, options }] : [];
    });
}

/** `new McpStrategy()` becomes `McpModule.forRoot()`, in the imports of a module. */
export function convertStrategies(job: FileJob, project: Project): void {
  const { Node } = job.morph;
  const strategies = strategiesOf(job);
  for (const { expression, options } of strategies) {
    const written = convertOptions(job, options);
    const declaration = expression.getParent();
    job.changed(['McpModule']);
    rewrite(job, options, written);
    const indentation = expression.getIndentationText();
    const text = outdented(expression.getArguments()[0]?.getText() ?? '', indentation);
    expression.replaceWithText(`McpModule.forRoot(${text})`);
    if (declaration && Node.isVariableDeclaration(declaration)) place(job, declaration, project);
  }
  removeControllers(job, strategies.length > 0);
}

function convertOptions(job: FileJob, options: ObjectLiteralExpression): Written {
  const { Node } = job.morph;
  const { http, rest } = read(job, options);
  const transports = propertyOf(job.morph, options, 'transports');
  const list = transports && Node.isPropertyAssignment(transports) ? transports.getInitializer() : undefined;
  const elements = list && Node.isArrayLiteralExpression(list) ? list.getElements() : [];
  if (elements.length === 0) job.note(options, 'set "http" and "stdio" as the old transports did');
  const made = elements.map(one => (Node.isIdentifier(one) ? initializerOf(job, one.getText()) : one));
  const kinds = made.map(one =>
    one && Node.isNewExpression(one) ? job.peerName(one.getExpression().getText()) : undefined,
  );
  const streamable = made[kinds.indexOf('StreamableHttpTransport')];
  if (kinds.includes('StdioTransport')) rest.set('stdio', 'true');
  if (kinds.includes(undefined)) job.note(options, 'set "http" and "stdio" as the old transports did');
  const [argument] = streamable && Node.isNewExpression(streamable) ? streamable.getArguments() : [];
  if (streamable)
    convertTransport(
      job,
      argument && Node.isObjectLiteralExpression(argument) ? argument : undefined,
      http,
      rest,
    );
  const controller = controllerOf(job);
  if (streamable && controller) convertController(controller, http);
  return { rest, http: !streamable && kinds.includes('StdioTransport') ? false : http };
}

const TRANSPORT_NOTES: Readonly<Record<string, string>> = {
  stepUpAuthorization: 'McpAuthModule answers a missing scope with a challenge: remove what did so',
  protocol: 'choose "legacy": it says how 2025-era clients are served',
};

function convertTransport(
  job: FileJob,
  options: ObjectLiteralExpression | undefined,
  http: Map<string, string>,
  rest: Map<string, string>,
): void {
  const value = (name: string) => options && valueOf(job.morph, options, name);
  const endpoint = value('endpoint');
  if (endpoint !== undefined) http.set('path', slashed(endpoint));
  const [stateful, protocol] = [value('statefulMode'), literalOf(value('protocol'))];
  if (protocol === 'modern-only') rest.set('legacy', "'reject'");
  else if (stateful === undefined || stateful === 'false') rest.set('legacy', "'stateless'");
  else if (stateful !== 'true') rest.set('legacy', `${stateful} ? 'sessions' : 'stateless'`);
  const security = options && propertyValue(job, options, 'security');
  for (const name of ['allowedHosts', 'allowedOrigins']) {
    const hosts = security && valueOf(job.morph, security, name);
    if (hosts !== undefined && literalOf(hosts) !== 'localhost') http.set(name, hosts);
  }
  for (const [name, text] of Object.entries(TRANSPORT_NOTES))
    if (options && value(name) !== undefined && !(name === 'protocol' && protocol === 'modern-only'))
      job.note(options, text);
}

/** A class that extends `McpHttpControllerFor()`: in 2.x, it holds the guards of the route. */
const controllerOf = (job: FileJob): ClassDeclaration | undefined =>
  job.file
    .getDescendantsOfKind(job.morph.SyntaxKind.ClassDeclaration)
    .find(one =>
      /^(McpHttpControllerFor\(|StreamableHttpController$)/.test(one.getExtends()?.getText() ?? ''),
    );

function convertController(controller: ClassDeclaration, http: Map<string, string>): void {
  const decorators = controller.getDecorators();
  const [path] = decorators.find(one => one.getName() === 'Controller')?.getArguments() ?? [];
  if (path && !http.has('path')) http.set('path', slashed(path.getText()));
  const others = decorators.filter(one => one.getName() !== 'Controller').map(one => one.getText().slice(1));
  if (others.length > 0) http.set('decorators', `[${others.join(', ')}]`);
}

function removeControllers(job: FileJob, isBeside: boolean): void {
  const controller = controllerOf(job);
  if (!controller) return;
  if (!isBeside || controller.getMembers().length > 0)
    return job.note(
      controller,
      'McpModule serves the route: delete this class, and move its decorators to "decorators" of the option "http"',
    );
  const name = controller.getName() ?? '';
  for (const list of listsOf(job.file, job, 'controllers'))
    for (const one of list.getElements().filter(element => element.getText() === name))
      list.removeElement(one);
  controller.remove();
  job.changed();
}

function initializerOf(job: FileJob, name: string): Node | undefined {
  return job.file
    .getDescendantsOfKind(job.morph.SyntaxKind.VariableDeclaration)
    .find(one => one.getName() === name)
    ?.getInitializer();
}

/** Puts the server in the imports of the module that had its provider, or else of the module that is started. */
function place(job: FileJob, declaration: VariableDeclaration, project: Project): void {
  const name = declaration.getName();
  const files = [job.file, ...project.getSourceFiles().filter(one => one !== job.file)];
  const own = modulesOf(job.file, job).find(one => one.getText().includes('MCP_STRATEGY'));
  const target =
    own ?? modulesOf(job.file, job)[0] ?? files.flatMap(file => startedModule(file, job, name)).find(Boolean);
  const isExported = declaration.getVariableStatement()?.isExported() === true;
  if (!target)
    return job.note(declaration, `add "${name}" to the imports of the module that the application starts`);
  const file = target.getSourceFile();
  if (file === job.file) {
    addImportOf(target, name, job);
  } else if (isExported) {
    const known = file.getImportDeclarations().find(one => one.getModuleSpecifierSourceFile() === job.file);
    if (!known) {
      const moduleSpecifier = file.getRelativePathAsModuleSpecifierTo(job.file);
      file.addImportDeclaration({ namedImports: [name], moduleSpecifier });
    } else if (!known.getNamedImports().some(one => one.getName() === name)) known.addNamedImport(name);
    addImportOf(target, name, job);
  } else {
    addImportOf(target, declaration.getInitializerOrThrow().getText(), job);
    file.addImportDeclaration({ namedImports: ['McpModule'], moduleSpecifier: 'nestjs-mcp' });
    declaration.remove();
  }
}

/** The object of the `@Module()` that a file starts with `NestFactory`. */
function startedModule(file: SourceFile, job: FileJob, strategy: string): ObjectLiteralExpression[] {
  const { SyntaxKind, Node } = job.morph;
  const isKnown =
    file === job.file ||
    file
      .getImportDeclarations()
      .some(
        one =>
          one.getModuleSpecifierSourceFile() === job.file &&
          one.getNamedImports().some(specifier => specifier.getName() === strategy),
      );
  if (!isKnown) return [];
  const call = file
    .getDescendantsOfKind(SyntaxKind.CallExpression)
    .find(one => /^NestFactory\.create/.test(one.getExpression().getText()));
  const [argument] = call?.getArguments() ?? [];
  if (!argument) return [];
  const symbol = argument.getSymbol();
  return (
    (symbol?.getAliasedSymbol() ?? symbol)
      ?.getDeclarations()
      .flatMap(one => (Node.isClassDeclaration(one) ? metadataOf(one, job) : [])) ?? []
  );
}

export const modulesOf = (file: SourceFile, job: FileJob): ObjectLiteralExpression[] =>
  file.getDescendantsOfKind(job.morph.SyntaxKind.ClassDeclaration).flatMap(one => metadataOf(one, job));

function metadataOf(declaration: ClassDeclaration, job: FileJob): ObjectLiteralExpression[] {
  const [argument] = declaration.getDecorator('Module')?.getArguments() ?? [];
  return argument && job.morph.Node.isObjectLiteralExpression(argument) ? [argument] : [];
}

function addImportOf(module: ObjectLiteralExpression, text: string, job: FileJob): void {
  const list = propertyOf(job.morph, module, 'imports');
  const value = list && job.morph.Node.isPropertyAssignment(list) ? list.getInitializer() : undefined;
  if (value && job.morph.Node.isArrayLiteralExpression(value)) value.addElement(text);
  else if (value) value.replaceWithText(`[...${value.getText()}, ${text}]`);
  else module.insertPropertyAssignment(0, { name: 'imports', initializer: `[${text}]` });
  job.changed();
}

/** The lists of the modules of a file with this key. */
export function listsOf(file: SourceFile, job: FileJob, key: string) {
  return modulesOf(file, job).flatMap(module => {
    const property = propertyOf(job.morph, module, key);
    const value =
      property && job.morph.Node.isPropertyAssignment(property) ? property.getInitializer() : undefined;
    return value && job.morph.Node.isArrayLiteralExpression(value) ? [value] : [];
  });
}
