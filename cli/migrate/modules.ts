import type { CallExpression, Node, ObjectLiteralExpression } from 'ts-morph';
import { propertyOf, type FileJob } from './file-job.js';
import { convertModuleOptions } from './module-options.js';

/** Converts the calls of `McpModule.forRoot()`, `forRootAsync()` and `forFeature()`. */
export function convertModules(job: FileJob): void {
  const { SyntaxKind } = job.morph;
  for (const method of ['forRoot', 'forRootAsync', 'forFeature'] as const) {
    const calls = job.file
      .getDescendantsOfKind(SyntaxKind.CallExpression)
      .filter(one => isCallOf(job, one, method));
    for (const call of calls) {
      job.changed(['McpModule']);
      convertCall(job, call, method);
    }
  }
  convertFactories(job);
}

function isCallOf(job: FileJob, call: CallExpression, method: string): boolean {
  const [object, name] = call.getExpression().getText().split('.');
  return name === method && job.peerName(object ?? '') === 'McpModule';
}

function convertCall(
  job: FileJob,
  call: CallExpression,
  method: 'forRoot' | 'forRootAsync' | 'forFeature',
): void {
  const { Node } = job.morph;
  const [first, second] = call.getArguments();
  if (method === 'forFeature') {
    if (!second || Node.isObjectLiteralExpression(second)) return;
    second.replaceWithText(`{ server: ${second.getText()} }`);
    return job.changed();
  }
  if (!first || !Node.isObjectLiteralExpression(first))
    return job.note(
      call,
      'rename the options where this object is made, as the table of the documentation says',
    );
  if (method === 'forRoot') return convertModuleOptions(job, first);
  const factory = propertyOf(job.morph, first, 'useFactory');
  const made = factory && returnedBy(job, factory);
  if (made) convertModuleOptions(job, made, true);
  else if (factory) job.note(factory, 'rename the options that this factory makes');
  const extra = propertyOf(job.morph, first, 'extraProviders');
  if (extra) job.note(extra, 'list these providers in a module of "imports"');
}

/** Classes whose `createMcpOptions()` makes the options. */
function convertFactories(job: FileJob): void {
  if (!job.imports('McpOptionsFactory')) return;
  for (const method of job.file.getDescendantsOfKind(job.morph.SyntaxKind.MethodDeclaration)) {
    if (method.wasForgotten() || method.getName() !== 'createMcpOptions') continue;
    const made = returnedBy(job, method);
    if (made) convertModuleOptions(job, made, true);
    job.changed(['McpOptionsFactory']);
  }
}

/** The object that a function returns. */
function returnedBy(job: FileJob, node: Node): ObjectLiteralExpression | undefined {
  const { Node, SyntaxKind } = job.morph;
  const arrow = node.getFirstDescendantByKind(SyntaxKind.ArrowFunction);
  const body = arrow?.getBody();
  const unwrapped = body && Node.isParenthesizedExpression(body) ? body.getExpression() : body;
  if (unwrapped && Node.isObjectLiteralExpression(unwrapped)) return unwrapped;
  const returned = node.getDescendantsOfKind(SyntaxKind.ReturnStatement).at(-1)?.getExpression();
  return returned && Node.isObjectLiteralExpression(returned) ? returned : undefined;
}
