import type { CallExpression, Node, ParameteredNode } from 'ts-morph';
import { propertyOf, usesOf, type FileJob } from './file-job.js';

const PROPERTIES: Readonly<Record<string, string>> = {
  'getClientInfo()': 'clientInfo',
  'getProtocolVersion()': 'protocolVersion',
  'getClientCapabilities()': 'clientCapabilities',
  'mcpServer.server.getClientCapabilities()': 'clientCapabilities',
  'mcpServer.server.getClientVersion()': 'clientInfo',
  'getSession().sessionId': 'sessionId',
};

const QUESTIONS: Readonly<Record<string, 'elicit' | 'sample'>> = {
  '.mcpServer.server.elicitInput': 'elicit',
  '.mcpServer.server.createMessage': 'sample',
};

const LEFT: Readonly<Record<string, string>> = {
  mcpServer: 'there is no McpServer in a call: use the methods of McpContext, or an interceptor',
  mcpRequest:
    'there is no request of the protocol in McpContext: use @Args(), and its method, requestId and meta',
  getSession: 'read sessionId and era of McpContext',
  getTraceContext: 'nestjs-mcp/telemetry continues the trace; ctx.meta holds the fields',
};

/** Converts the uses of parameters that are a context. */
export function convertContext(
  job: FileJob,
  owner: ParameteredNode & Node & { getName?(): string | undefined },
): void {
  for (const parameter of owner.getParameters()) {
    const type = parameter.getTypeNode()?.getText();
    const isContext =
      type === 'McpContext' || ['Context', 'McpContext'].includes(job.peerName(type ?? '') ?? '');
    if (isContext || parameter.getDecorator('Ctx')) convertUses(job, owner, parameter.getName());
  }
}

/** Converts the uses of contexts in functions that are no handlers. */
export function convertOtherContexts(job: FileJob): void {
  const { SyntaxKind } = job.morph;
  const { ArrowFunction, FunctionDeclaration, FunctionExpression, MethodDeclaration } = SyntaxKind;
  for (const kind of [FunctionDeclaration, MethodDeclaration, ArrowFunction, FunctionExpression] as const)
    for (const one of job.file.getDescendantsOfKind(kind)) if (!one.wasForgotten()) convertContext(job, one);
  for (const type of job.file.getDescendantsOfKind(SyntaxKind.TypeReference)) {
    if (type.wasForgotten() || job.peerName(type.getText()) !== 'Context') continue;
    type.replaceWithText('McpContext');
    job.changed(['McpContext']);
  }
}

function convertUses(job: FileJob, owner: Node & { getName?(): string | undefined }, name: string): void {
  const chains = () => usesOf(job.morph, owner, name).map(one => chainOf(job, one));
  let asked = 0;
  const keyOf = () => `${owner.getName?.() ?? 'question'}${asked > 0 ? `-${asked + 1}` : ''}`;
  // A replacement forgets the nodes in it, so each turn looks for the next one.
  while (chains().some(chain => convertQuestion(job, chain, name, keyOf()))) asked += 1;
  for (;;) {
    const next = chains()
      .map(chain => ({ chain, text: convertedText(job, chain, name) }))
      .find(one => one.text !== undefined);
    if (next?.text === undefined) break;
    next.chain.replaceWithText(next.text);
    job.changed();
  }
  for (const use of usesOf(job.morph, owner, name)) {
    const [, member = ''] = /^\.(\w+)/.exec(chainOf(job, use).getText().slice(name.length)) ?? [];
    if (LEFT[member]) job.note(use, LEFT[member]);
  }
}

/** The longest chain of properties and calls that begins with the node. */
function chainOf(job: FileJob, node: Node): Node {
  const { Node } = job.morph;
  const parent = node.getParent();
  if (
    parent &&
    (Node.isPropertyAccessExpression(parent) || Node.isCallExpression(parent)) &&
    parent.getExpression() === node
  )
    return isEnd(job, node, parent) ? node : chainOf(job, parent);
  return node;
}

/** A chain ends behind what has a counterpart. */
function isEnd(job: FileJob, node: Node, parent: Node): boolean {
  return (
    job.morph.Node.isPropertyAccessExpression(parent) &&
    job.morph.Node.isCallExpression(node) &&
    !/getSession\(\)$/.test(node.getText())
  );
}

function convertedText(job: FileJob, chain: Node, name: string): string | undefined {
  const text = chain
    .getText()
    .slice(name.length)
    .replace(/^[?!]?\./, '');
  if (Object.hasOwn(PROPERTIES, text)) return `${name}.${PROPERTIES[text]}`;
  const raw = /^getRawRequest(?:<([\s\S]*)>)?\(\)$/.exec(text);
  if (raw) return raw[1] ? `(${name}.request as ${raw[1]})` : `${name}.request`;
  if (!job.morph.Node.isCallExpression(chain)) return undefined;
  return logText(chain, name, text);
}

function logText(chain: CallExpression, name: string, text: string): string | undefined {
  const [, level] = /^log\.(debug|info|warn|error)\(/.exec(text) ?? [];
  if (level === undefined) return undefined;
  const [message, data] = chain.getArguments().map(one => one.getText());
  if (level !== 'warn' && data === undefined) return undefined;
  const argument = data === undefined ? message : `{ message: ${message}, context: ${data} }`;
  return `${name}.log.${level === 'warn' ? 'warning' : level}(${argument})`;
}

/** Turns a question of the SDK into one of this package. @returns whether the chain is one */
function convertQuestion(job: FileJob, chain: Node, name: string, key: string): boolean {
  const { Node } = job.morph;
  if (!Node.isCallExpression(chain)) return false;
  const expression = chain.getExpression();
  const verb = QUESTIONS[expression.getText().slice(name.length)];
  const [argument] = chain.getArguments();
  if (verb === undefined || !argument) return false;
  if (verb === 'elicit') {
    const schema = Node.isObjectLiteralExpression(argument)
      ? propertyOf(job.morph, argument, 'requestedSchema')
      : undefined;
    if (!schema) return false;
    if (Node.isPropertyAssignment(schema)) schema.getNameNode().replaceWithText('schema');
    else schema.replaceWithText('schema: requestedSchema');
  }
  if (insideTry(job, chain))
    job.note(chain, 'do not catch what this call throws: it ends the round, and the handler runs again');
  chain.insertArgument(0, `'${key}'`);
  expression.replaceWithText(`${name}.${verb}`);
  job.changed();
  return true;
}

const insideTry = (job: FileJob, node: Node): boolean => {
  const { Node } = job.morph;
  const statement = node.getFirstAncestor(Node.isTryStatement);
  return (
    statement?.getCatchClause() !== undefined &&
    statement.getTryBlock().getPos() <= node.getPos() &&
    node.getEnd() <= statement.getTryBlock().getEnd()
  );
};
