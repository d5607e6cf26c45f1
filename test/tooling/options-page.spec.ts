import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { CLIENT } from '../../lib/client/client-options.js';
import { BACKEND, GATEWAY, LIMITS } from '../../lib/gateway/resolve-options.js';
import { MUTATOR, SINK, VALIDATOR } from '../../lib/interceptors/local/check-options.js';
import { BREAKER, HOST, SEND } from '../../lib/interceptors/remote/check-server.js';
import { CROSS_BOUNDARY_GUARD } from '../../lib/interceptors/library/cross-boundary-guard.js';
import { JSON_SCHEMA_VALIDATOR, RULE } from '../../lib/interceptors/library/json-schema-validator.js';
import { RATE_LIMIT } from '../../lib/interceptors/library/rate-limit.js';
import { SECRET_REDACTOR } from '../../lib/interceptors/library/secret-redactor.js';
import { ENTROPY } from '../../lib/interceptors/library/secrets/entropy.js';
import { SCAN_LIMITS } from '../../lib/interceptors/library/secrets/scan.js';
import { SECRET_LEDGER } from '../../lib/interceptors/library/secrets/secret-ledger.js';
import { SIZE_LIMIT } from '../../lib/interceptors/library/size-limit.js';
import { TOOL_ACCESS, TOOL_RULE } from '../../lib/interceptors/library/tool-access.js';
import { OVERRIDE } from '../../lib/interceptors/common-options.js';
import { INTERCEPTORS } from '../../lib/interceptors/resolve-interceptors.js';
import {
  ASYNC,
  CALLS,
  FEATURE,
  HTTP,
  ROUTES,
  SERVER,
  SESSIONS,
} from '../../lib/module/resolve-server-options.js';
import { MRTR, SUSPENSION } from '../../lib/elicitation/mrtr-options.js';
import { AUTH } from '../../lib/auth/auth-options.js';
import { INTROSPECTION } from '../../lib/auth/introspection-verifier.js';
import { JWT } from '../../lib/auth/jwt-verifier.js';
import { REDIS } from '../../lib/redis/redis-options.js';
import { SKILLS } from '../../lib/skills/skill-options.js';
import { TASKS, TOOL_TASK } from '../../lib/tasks/task-options.js';
import { HINTS } from '../../lib/toolsets/tool-hints.js';
import { TOOLSETS } from '../../lib/toolsets/toolset-options.js';
import { TOOL_SEARCH } from '../../lib/toolsets/search/search-options.js';
import { EXPLORER } from '../../lib/explorer/explorer-options.js';
import { TELEMETRY } from '../../lib/telemetry/telemetry-options.js';
import { describe as describeSchema } from '../../lib/options/check-options.js';
import type { OptionSchema } from '../../lib/options/option-schema.js';

const PAGE = resolve(__dirname, '../../docs/options.md');
const LIB = resolve(__dirname, '../../lib');

/** A table of the page: its heading, the schema, and the types whose doc comments say what the options mean. */
type Section = readonly [heading: string, schema: object, ...types: string[]];

const SECTIONS: readonly Section[] = [
  ['McpModule.forRoot(options)', SERVER, 'McpModuleOptions'],
  ['McpModule.forRootAsync(options)', ASYNC, 'McpModuleAsyncOptions'],
  ['McpModule.forFeature(handlers, options)', FEATURE, 'McpFeatureOptions'],
  ['http', HTTP, 'McpHttpOptions'],
  ['sessions', SESSIONS, 'McpSessionOptions'],
  ['calls', CALLS, 'McpCallOptions'],
  ['routes', ROUTES, 'McpRouteOptions'],
  ['mrtr', MRTR, 'McpMrtrOptions'],
  ['mrtr.suspension', SUSPENSION, 'McpSuspensionOptions'],
  ['interceptors', INTERCEPTORS, 'McpInterceptorOptions'],
  ['interceptors.overrides', OVERRIDE, 'InterceptorOverride'],
  [
    'interceptors.servers',
    HOST,
    'InterceptorServerOptions',
    'HostPolicy',
    'ReachableHost',
    'ConnectionOptions',
  ],
  ['interceptors.servers.send', SEND, 'HostSendOptions'],
  ['interceptors.servers.breaker', BREAKER],
  ['@Sink(options)', SINK, 'InterceptorOptions'],
  ['@Validator(options)', without(VALIDATOR, SINK), 'ValidatorOptions'],
  ['@Mutator(options)', without(MUTATOR, SINK), 'MutatorOptions'],
  [
    'SecretRedactor(options)',
    without(SECRET_REDACTOR, MUTATOR),
    'SecretRedactorOptions',
    'SecretDetectorOptions',
  ],
  ['entropy', ENTROPY, 'EntropyOptions'],
  ['limits', SCAN_LIMITS, 'ScanLimits'],
  [
    'CrossBoundaryGuard(options)',
    without(CROSS_BOUNDARY_GUARD, VALIDATOR),
    'CrossBoundaryGuardOptions',
    'SecretDetectorOptions',
  ],
  ['ledger', SECRET_LEDGER, 'SecretLedgerOptions'],
  ['SizeLimit(options)', without(SIZE_LIMIT, VALIDATOR), 'SizeLimitOptions'],
  ['RateLimit(options)', without(RATE_LIMIT, VALIDATOR), 'RateLimitOptions'],
  ['JsonSchemaValidator(options)', without(JSON_SCHEMA_VALIDATOR, VALIDATOR), 'JsonSchemaValidatorOptions'],
  ['JsonSchemaValidator rules', RULE, 'JsonSchemaRule'],
  ['ToolAccess(options)', without(without(TOOL_ACCESS, VALIDATOR), MUTATOR), 'ToolAccessOptions'],
  ['ToolAccess rules', TOOL_RULE, 'ToolRule'],
  ['McpClientModule.register([options])', CLIENT, 'McpClientOptions', 'ConnectionOptions'],
  ['McpGatewayModule.forRoot(options)', GATEWAY, 'McpGatewayOptions', 'McpModuleOptions'],
  ['backend', BACKEND, 'GatewayBackend', 'ConnectionOptions'],
  ['limits of a gateway', LIMITS, 'GatewayLimits'],
  ['McpRedisModule.forRoot(options)', REDIS, 'McpRedisOptions'],
  ['McpSkillsModule.forRoot(options)', SKILLS, 'McpSkillsOptions'],
  ['McpTasksModule.forRoot(options)', TASKS, 'McpTasksOptions'],
  ['@Tool task', TOOL_TASK, 'ToolTaskOptions'],
  ['McpToolsetsModule.forRoot(options)', TOOLSETS, 'McpToolsetsOptions'],
  ['McpToolSearchModule.forRoot(options)', TOOL_SEARCH, 'McpToolSearchOptions'],
  ['@Tool hints', HINTS, 'ToolHints'],
  ['McpTelemetryModule.forRoot(options)', TELEMETRY, 'McpTelemetryOptions'],
  ['McpExplorerModule.forRoot(options)', EXPLORER, 'McpExplorerOptions'],
  ['McpAuthModule.forRoot(options)', AUTH, 'McpAuthOptions'],
  ['jwtVerifier(options)', JWT, 'JwtVerifierOptions'],
  ['introspectionVerifier(options)', INTROSPECTION, 'IntrospectionVerifierOptions'],
];

const INTRODUCTION = `# Options

The schemas that check the options, and the doc comments of their types, make this page: \`npm run docs:options\` writes it.
An option that is unknown or wrong stops the start with an error that names it. A ready-made interceptor also takes the
options of \`@Validator\`, or of \`@Mutator\`, that its type allows.
`;

it('docs/options.md is up to date', () => {
  const docs = docComments();
  const page = [INTRODUCTION, ...SECTIONS.map(section => tableOf(section, docs))].join('\n');
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});

function without(schema: object, shared: object): OptionSchema {
  const { properties, ...rest } = schema as OptionSchema;
  const known = Object.keys((shared as OptionSchema).properties ?? {});
  const own = Object.entries(properties ?? {}).filter(([key]) => !known.includes(key));
  return { ...rest, properties: Object.fromEntries(own) };
}

type Docs = ReadonlyMap<string, ReadonlyMap<string, string>>;

function tableOf([heading, schema, ...types]: Section, docs: Docs): string {
  const { properties = {}, required = [] } = schema as OptionSchema;
  const rows = Object.entries(properties).map(([name, one]) => {
    const [, meaning, byDefault = ''] = /^(.*?)\s*(?:Default: (.*?)\.?)?$/s.exec(docOf(types, name, docs))!;
    expectSaid(`${heading}: ${name}`, byDefault, one.default);
    const cells = [`\`${name}\``, valueOf(one), required.includes(name) ? 'required' : byDefault, meaning];
    return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    `## \`${heading}\`\n`,
    '| Option | Value | Default | Meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** An option that has a table is not described twice. */
function valueOf(schema: OptionSchema): string {
  const whole = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties);
  const section = SECTIONS.find(([, one]) => (one as OptionSchema).properties === whole?.properties);
  return whole && section
    ? `${schema.description ?? 'an object'}: see \`${section[0]}\``
    : describeSchema(schema);
}

function docOf(types: readonly string[], name: string, docs: Docs): string {
  const doc = types.map(type => docs.get(type)?.get(name)).find(text => text !== undefined);
  if (doc === undefined && types.length > 0)
    throw new Error(`${types.join(', ')}: ${name} has no doc comment`);
  return doc ?? '';
}

/** The doc comment of an option says the default that its schema fills in. */
function expectSaid(option: string, said: string, value: unknown): void {
  if (!['string', 'boolean', 'number'].includes(typeof value)) return;
  const word =
    typeof value === 'number'
      ? value.toLocaleString('en', { maximumFractionDigits: 9 })
      : `${value as string | boolean}`;
  expect({ option, said }).toEqual({ option, said: expect.stringContaining(word) });
}

/** What the doc comments of `lib/` say of the members of its types. */
function docComments(): Docs {
  const docs = new Map<string, Map<string, string>>();
  for (const file of readdirSync(LIB, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
    const text = readFileSync(resolve(LIB, file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const type of source.statements) {
      if (!ts.isInterfaceDeclaration(type) && !ts.isTypeAliasDeclaration(type)) continue;
      const members = docs.get(type.name.text) ?? new Map<string, string>();
      const visit = (node: ts.Node): void => {
        if (ts.isPropertySignature(node)) members.set(node.name.getText(), commentOf(node));
        else ts.forEachChild(node, visit);
      };
      visit(type);
      docs.set(type.name.text, members);
    }
  }
  return docs;
}

function commentOf(node: ts.PropertySignature): string {
  const [doc] = ts.getJSDocCommentsAndTags(node);
  return (ts.getTextOfJSDocComment(doc?.comment) ?? '').replace(/\s+/g, ' ');
}
