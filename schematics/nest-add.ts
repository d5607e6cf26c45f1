import type { Rule } from '@angular-devkit/schematics';
import { manifestOf, type Manifest } from './application.js';
import { generate } from './generate.js';
import { mentions, type ModuleEntry } from './module-file.js';
import { isInModules, namedModule, register, rootModule } from './modules.js';
import { sourceRootOf } from './names.js';
import { addPackages } from './packages.js';
import { TOOL } from './templates/tool.js';

/** Options of `nest add nestjs-mcp`. */
export interface AddOptions {
  readonly sourceRoot?: string;
  readonly module?: string;
  readonly auth?: boolean;
  readonly redis?: boolean;
  readonly telemetry?: boolean;
  readonly explorer?: boolean;
  readonly stdio?: boolean;
}

/** A module of the package beside `McpModule`: its entry, its packages, and what its user does next. */
interface Feature {
  readonly entry: (server: string) => ModuleEntry;
  readonly packages: readonly string[];
  readonly next: string;
}

const FEATURES: Readonly<Record<'auth' | 'redis' | 'telemetry' | 'explorer', Feature>> = {
  auth: {
    entry: () => ({
      metadata: 'imports',
      symbol: 'McpAuthModule',
      uses: ['jwtVerifier'],
      from: 'nestjs-mcp/auth',
      expression: `McpAuthModule.forRoot({
      resource: process.env.MCP_URL ?? 'http://localhost:3000/mcp',
      authorizationServers: [process.env.MCP_ISSUER ?? 'https://login.example.com'],
      verifier: jwtVerifier({
        issuer: process.env.MCP_ISSUER ?? 'https://login.example.com',
        jwksUri: process.env.MCP_JWKS_URI ?? 'https://login.example.com/jwks',
      }),
    })`,
    }),
    packages: ['jose'],
    next: 'Set MCP_URL, MCP_ISSUER and MCP_JWKS_URI: each call needs a token of the issuer',
  },
  redis: {
    entry: server => ({
      metadata: 'imports',
      symbol: 'McpRedisModule',
      from: 'nestjs-mcp/redis',
      expression: `McpRedisModule.forRoot({
      url: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: '${server}:',
    })`,
    }),
    packages: ['redis'],
    next: 'Set REDIS_URL, and give all nodes the same mrtr.secret in McpModule.forRoot',
  },
  telemetry: {
    entry: () => ({
      metadata: 'imports',
      symbol: 'McpTelemetryModule',
      from: 'nestjs-mcp/telemetry',
      expression: 'McpTelemetryModule.forRoot()',
    }),
    packages: ['@opentelemetry/api'],
    next: 'Register an OpenTelemetry SDK before NestFactory.create',
  },
  explorer: {
    entry: () => ({
      metadata: 'imports',
      symbol: 'McpExplorerModule',
      from: 'nestjs-mcp/explorer',
      expression: 'McpExplorerModule.forRoot()',
    }),
    packages: [],
    next: 'The explorer is at http://localhost:3000/mcp-explorer',
  },
};

/** Makes the application an MCP server with one tool. What the application has already is left as it is. */
export const nestAdd =
  (options: AddOptions): Rule =>
  async (tree, context) => {
    const sourceRoot = sourceRootOf(tree, options);
    const module = options.module
      ? namedModule(tree, sourceRoot, options.module)
      : rootModule(tree, sourceRoot);
    const { name, version } = serverOf(manifestOf(tree));
    const features = Object.entries(FEATURES).flatMap(([key, feature]) =>
      options[key as keyof typeof FEATURES] ? [feature] : [],
    );
    const server: ModuleEntry = {
      metadata: 'imports',
      symbol: 'McpModule',
      from: 'nestjs-mcp',
      expression: `McpModule.forRoot({ name: '${name}', version: '${version}'${options.stdio ? ', stdio: true' : ''} })`,
    };
    const isNamed = (symbol: string) =>
      isInModules(tree, sourceRoot, symbol) || mentions(tree.readText(module), symbol);
    const missing = [server, ...features.map(({ entry }) => entry(name))].filter(
      ({ symbol }) => !isNamed(symbol),
    );
    if (options.stdio && !missing.includes(server) && !isNamed('stdio'))
      context.logger.warn('Set the option stdio of McpModule yourself: the module is there');
    await register(tree, module, missing);
    addPackages(tree, context, {
      dependencies: [...(TOOL.packages ?? []), ...features.flatMap(({ packages }) => packages)],
      devDependencies: ['@modelcontextprotocol/client'],
    });

    const isNew = missing.includes(server);
    if (isNew && !tree.exists(`${sourceRoot}/hello/hello.tool.ts`))
      await generate(TOOL, { name: 'hello', sourceRoot: options.sourceRoot, module }, tree, context);
    for (const line of [...features.map(({ next }) => next), ...(isNew ? firstSteps(options) : [])])
      context.logger.info(line);
    if (options.stdio) for (const line of STDIO_ONLY) context.logger.info(line);
  };

/** The spec needs no token, and the identity provider gives none before it is set up. */
const firstSteps = ({ auth = false }: AddOptions): readonly string[] => [
  ...(auth ? ['Run npm test: the spec of HelloTool calls the tool without a token'] : []),
  `Start the application with npm start, and call it${auth ? ' with a token of the issuer' : ''}:`,
  `  npx @modelcontextprotocol/inspector@latest --cli http://localhost:3000/mcp${auth ? ' --header "Authorization: Bearer <token>"' : ''} --method tools/list`,
  'Generate more with: nest g -c nestjs-mcp tool <name>',
];

const STDIO_ONLY = [
  'The application also serves HTTP, so it runs on when a stdio client ends, and keeps its port. If it is for stdio only,',
  '  set http: false in McpModule.forRoot, and call NestFactory.createApplicationContext in main.ts without app.listen',
];

/** The name and the version of the server are those of the application. */
function serverOf({ name = 'app', version = '1.0.0' }: Manifest = {}): { name: string; version: string } {
  return { name: name.replace(/^@[^/]*\//, ''), version };
}
