import { PEERS, type FileJob } from './file-job.js';

/** Types of the SDK that 2.x exports again. */
const OF_SDK: Readonly<Record<string, string>> = {
  PromptResult: 'GetPromptResult',
  GetPromptResult: 'GetPromptResult',
  PromptMessage: 'PromptMessage',
  Icon: 'Icon',
};

/** Types that have another name here. */
const RENAMED: Readonly<Record<string, string>> = {
  McpOptions: 'McpModuleOptions',
  McpAsyncOptions: 'McpModuleOptions',
  McpModuleAsyncOptions: 'McpModuleAsyncOptions',
  McpOptionsFactory: 'McpOptionsFactory',
  McpContext: 'McpContext',
};

const NOTES: Readonly<Record<string, string>> = {
  McpAuthModule:
    'use an external authorization server, and check its tokens with McpAuthModule of nestjs-mcp/auth',
  McpAuthJwtGuard:
    'McpAuthModule of nestjs-mcp/auth checks tokens: jwtVerifier(), or guardVerifier() with your own guard',
  McpStdioServer: 'set "stdio: true", and start with NestFactory.createApplicationContext()',
  McpExceptionFilter:
    'throw an HttpException for a message: every exception filter of Nest works on handlers',
};

/** Names that a file uses, by the imports of other packages, before its conversion. */
export function usedNames(job: FileJob): ReadonlySet<string> {
  const names = job.file
    .getImportDeclarations()
    .flatMap(one => one.getNamedImports())
    .map(one => one.getAliasNode()?.getText() ?? one.getName());
  return new Set(names.filter(name => job.isUsed(name)));
}

/** Renames types, and removes the imports that nothing uses any more. @param before the names that were used */
export function convertImports(job: FileJob, before: ReadonlySet<string>): void {
  const { SyntaxKind } = job.morph;
  for (const type of job.file.getDescendantsOfKind(SyntaxKind.TypeReference)) {
    if (type.wasForgotten()) continue;
    const peerName = job.peerName(type.getTypeName().getText()) ?? '';
    const name = RENAMED[peerName] ?? OF_SDK[peerName];
    if (name === undefined) continue;
    job.changed([name], RENAMED[peerName] ? 'nestjs-mcp' : '@modelcontextprotocol/server');
    if (type.getTypeName().getText() !== name) type.getTypeName().replaceWithText(name);
  }
  for (const declaration of job.file.getImportDeclarations()) {
    const from = declaration.getModuleSpecifierValue();
    const isPeer = (PEERS as readonly string[]).includes(from);
    for (const specifier of declaration.getNamedImports()) {
      const local = specifier.getAliasNode()?.getText() ?? specifier.getName();
      const isTaken =
        (isPeer && TAKEN.has(specifier.getName())) || (from === '@nestjs/microservices' && job.takes(local));
      if (isTaken || (before.has(local) && !job.isUsed(local)) || (isPeer && !job.isUsed(local)))
        specifier.remove();
      else if (isPeer)
        job.note(
          declaration,
          NOTES[specifier.getName()] ?? `"${specifier.getName()}" has no counterpart: replace what uses it`,
        );
    }
    if (
      declaration.getNamedImports().length === 0 &&
      !declaration.getDefaultImport() &&
      !declaration.getNamespaceImport() &&
      declaration.getImportClause()
    ) {
      if (isPeer) job.changed();
      declaration.remove();
    }
  }
}

/** What the conversion imports from this package under the same name. */
const TAKEN = new Set([
  'Tool',
  'Prompt',
  'Resource',
  'ResourceTemplate',
  'McpModule',
  ...Object.keys(RENAMED),
]);
