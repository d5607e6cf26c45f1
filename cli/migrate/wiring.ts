import type { ArrayLiteralExpression, ObjectLiteralExpression, Statement } from 'ts-morph';
import { propertyOf, usesOf, type FileJob } from './file-job.js';
import { listsOf, modulesOf } from './strategy.js';

/** The classes of a project with `@McpController()`, by their names. */
export function controllersOf(jobs: readonly FileJob[]): ReadonlySet<string> {
  return new Set(
    jobs.flatMap(job =>
      job.file
        .getDescendantsOfKind(job.morph.SyntaxKind.ClassDeclaration)
        .filter(one =>
          one.getDecorators().some(decorator => job.peerName(decorator.getName()) === 'McpController'),
        )
        .map(one => one.getName() ?? ''),
    ),
  );
}

/** Moves the classes that were controllers of 2.x to the providers, and removes the provider of the strategy. */
export function convertWiring(job: FileJob, controllers: ReadonlySet<string>): void {
  for (const list of listsOf(job.file, job, 'providers'))
    removeWhere(job, list, text => /\bMCP_STRATEGY\b/.test(text));
  for (const list of listsOf(job.file, job, 'exports'))
    removeWhere(job, list, text => text === 'MCP_STRATEGY');
  for (const module of modulesOf(job.file, job)) moveControllers(job, module, controllers);
  removeStart(job);
}

function moveControllers(
  job: FileJob,
  module: ObjectLiteralExpression,
  controllers: ReadonlySet<string>,
): void {
  const list = listIn(job, module, 'controllers');
  const moved =
    list
      ?.getElements()
      .map(one => one.getText())
      .filter(name => controllers.has(name)) ?? [];
  if (!list || moved.length === 0) return;
  removeWhere(job, list, text => moved.includes(text));
  const providers = listIn(job, module, 'providers');
  if (providers) for (const name of moved) providers.addElement(name);
  else module.addPropertyAssignment({ name: 'providers', initializer: `[${moved.join(', ')}]` });
  const rest = listIn(job, module, 'controllers');
  if (rest?.getElements().length === 0) propertyOf(job.morph, module, 'controllers')?.remove();
}

function removeWhere(job: FileJob, list: ArrayLiteralExpression, matches: (text: string) => boolean): void {
  for (const one of list.getElements().filter(element => matches(element.getText()))) {
    list.removeElement(one);
    job.changed();
  }
}

function listIn(
  job: FileJob,
  module: ObjectLiteralExpression,
  key: string,
): ArrayLiteralExpression | undefined {
  const property = propertyOf(job.morph, module, key);
  const value =
    property && job.morph.Node.isPropertyAssignment(property) ? property.getInitializer() : undefined;
  return value && job.morph.Node.isArrayLiteralExpression(value) ? value : undefined;
}

/** The statements of `main.ts` that started the strategy as a microservice. */
function removeStart(job: FileJob): void {
  const { Node, SyntaxKind } = job.morph;
  const statements = () => job.file.getDescendantsOfKind(SyntaxKind.ExpressionStatement);
  const removeAll = (pattern: RegExp) => {
    for (;;) {
      const next = statements().find(one => pattern.test(one.getText()));
      if (!next) return;
      next.remove();
      job.changed();
    }
  };
  if (!/setHttpAdapter|connectMicroservice|createMicroservice/.test(job.file.getFullText())) return;
  removeAll(/^\w+\.setHttpAdapter\(/);
  removeAll(/^\w+\.connectMicroservice[\s\S]*\bstrategy\b/);
  const microservices = statements().filter(one => /\.connectMicroservice/.test(one.getText()));
  if (microservices.length === 0) removeAll(/^await \w+\.startAllMicroservices\(\)/);
  const created = job.file
    .getDescendantsOfKind(SyntaxKind.CallExpression)
    .find(
      one =>
        /^NestFactory\.createMicroservice/.test(one.getExpression().getText()) &&
        one.getText().includes('strategy'),
    );
  if (created) {
    const [module, options] = created.getArguments();
    if (options && Node.isObjectLiteralExpression(options))
      propertyOf(job.morph, options, 'strategy')?.remove();
    const rest = options && options.getText().replace(/\s/g, '') !== '{}' ? `, ${options.getText()}` : '';
    const name = created.getFirstAncestorByKind(SyntaxKind.VariableDeclaration)?.getName();
    created.replaceWithText(`NestFactory.createApplicationContext(${module?.getText() ?? ''}${rest})`);
    job.changed();
    if (name !== undefined) removeAll(new RegExp(`^await ${name}\\.listen\\(\\)`));
  }
  removeUnused(job);
}

/** Variables that only the removed statements used. */
function removeUnused(job: FileJob): void {
  for (const declaration of job.file.getDescendantsOfKind(job.morph.SyntaxKind.VariableDeclaration)) {
    if (declaration.wasForgotten()) continue;
    const text = declaration.getInitializer()?.getText() ?? '';
    const isLeftover =
      /\.getHttpAdapter\(\)$/.test(text) ||
      /^NestFactory\.createApplicationContext/.test(text) ||
      isTransport(job, text);
    if (!isLeftover || usesOf(job.morph, job.file, declaration.getName()).length > 1) continue;
    const statement = declaration.getVariableStatement();
    if (statement && /^NestFactory/.test(text)) statement.replaceWithText(`await ${text};`);
    else if (!(statement as (Statement & { isExported?(): boolean }) | undefined)?.isExported?.())
      declaration.remove();
  }
}

const isTransport = (job: FileJob, text: string) =>
  /Transport$/.test(job.peerName(/^new (\w+)/.exec(text)?.[1] ?? '') ?? '');

const RPC = /^(\w+)\.switchToRpc\(\)\.getContext(?:<\w+>)?\(\)$/;

/** Guards of 2.x read the request from the context of a message. Here, it is the request of HTTP. */
export function convertGuards(job: FileJob): void {
  const { SyntaxKind } = job.morph;
  const contexts = job.file
    .getDescendantsOfKind(SyntaxKind.VariableDeclaration)
    .filter(one => RPC.test(one.getInitializer()?.getText() ?? ''));
  for (const declaration of contexts) {
    const [, host] = RPC.exec(declaration.getInitializerOrThrow().getText())!;
    const scope = declaration.getFirstAncestorByKind(SyntaxKind.Block);
    const uses = usesOf(job.morph, scope, declaration.getName()).filter(
      one => one.getParent() !== declaration,
    );
    for (const use of uses) {
      const call = use.getParent()?.getParent();
      const [, type = ''] = /\.getRawRequest(<[\s\S]*>)?\(\)$/.exec(call?.getText() ?? '') ?? [];
      if (!/^\w+\.getRawRequest/.test(call?.getText() ?? '')) continue;
      call?.replaceWithText(`${host}.switchToHttp().getRequest${type}()`);
      job.changed();
    }
    if (usesOf(job.morph, scope, declaration.getName()).length === 1) declaration.remove();
    else job.note(declaration, 'read the context of the call with McpExecutionContext.create(context)');
  }
}

/** Filters of 2.x answer with an observable that fails with an object. */
export function noteFilters(job: FileJob): void {
  for (const one of job.file.getDescendantsOfKind(job.morph.SyntaxKind.ClassDeclaration)) {
    const parents = [one.getExtends(), ...one.getImplements()].map(type => type?.getText() ?? '');
    if (parents.some(text => /^(Base)?RpcExceptionFilter\b/.test(text)))
      job.note(
        one,
        'return { isError: true, content } or throw an HttpException: clients get no text of throwError()',
      );
  }
}
