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
import { INTERCEPTORS, OVERRIDE } from '../../lib/interceptors/common-options.js';
import {
  ASYNC,
  CALLS,
  FEATURE,
  HTTP,
  ROUTES,
  SERVER,
  SESSIONS,
} from '../../lib/module/resolve-server-options.js';
import { APP, APP_CSP, TOOL_UI } from '../../lib/apps/app-options.js';
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
import type { OptionSchema } from '../../lib/options/option-schema.js';

/** A table of a page: its heading, the schema, and the types whose doc comments say what the options mean. */
export type Section = readonly [heading: string, schema: object, ...types: string[]];

interface OptionsPage {
  readonly purpose: string;
  readonly sections: readonly Section[];
}

/** The pages by entry of the package; the main entry first. */
export const PAGES: Readonly<Record<string, OptionsPage>> = {
  'nestjs-mcp': {
    purpose:
      'This page lists the options of `McpModule`: those of the server, its endpoint, its sessions and its calls.',
    sections: [
      ['McpModule.forRoot(options)', SERVER, 'McpModuleOptions'],
      ['McpModule.forRootAsync(options)', ASYNC, 'McpModuleAsyncOptions'],
      ['McpModule.forFeature(handlers, options)', FEATURE, 'McpFeatureOptions'],
      ['http', HTTP, 'McpHttpOptions'],
      ['sessions', SESSIONS, 'McpSessionOptions'],
      ['calls', CALLS, 'McpCallOptions'],
      ['routes', ROUTES, 'McpRouteOptions'],
      ['mrtr', MRTR, 'McpMrtrOptions'],
      ['mrtr.suspension', SUSPENSION, 'McpSuspensionOptions'],
    ],
  },
  apps: {
    purpose:
      'This page lists the options of `@App`, which serves a view, and of `@Tool({ ui })`, which shows it.',
    sections: [
      ['@App(options)', APP, 'AppOptions'],
      ['csp', APP_CSP, 'AppCsp'],
      ['@Tool ui', TOOL_UI, 'ToolUiOptions'],
    ],
  },
  auth: {
    purpose: 'This page lists the options of `McpAuthModule`, and of the verifiers of access tokens.',
    sections: [
      ['McpAuthModule.forRoot(options)', AUTH, 'McpAuthOptions'],
      ['jwtVerifier(options)', JWT, 'JwtVerifierOptions'],
      ['introspectionVerifier(options)', INTROSPECTION, 'IntrospectionVerifierOptions'],
    ],
  },
  client: {
    purpose: 'This page lists the options of `McpClientModule`: those of a connection to another MCP server.',
    sections: [['McpClientModule.register([options])', CLIENT, 'McpClientOptions', 'ConnectionOptions']],
  },
  explorer: {
    purpose: 'This page lists the options of `McpExplorerModule`.',
    sections: [['McpExplorerModule.forRoot(options)', EXPLORER, 'McpExplorerOptions']],
  },
  gateway: {
    purpose:
      'This page lists the options of `McpGatewayModule`: those of the gateway, its backends and its limits.',
    sections: [
      ['McpGatewayModule.forRoot(options)', GATEWAY, 'McpGatewayOptions', 'McpModuleOptions'],
      ['backend', BACKEND, 'GatewayBackend', 'ConnectionOptions'],
      ['limits', LIMITS, 'GatewayLimits'],
    ],
  },
  interceptors: {
    purpose:
      'This page lists the options of interceptors: of the `interceptors` of `McpModule`, the decorators, and the ready-made classes.\nA ready-made interceptor also takes the options of `@Validator`, or of `@Mutator`, that its type allows.',
    sections: [
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
      [
        'JsonSchemaValidator(options)',
        without(JSON_SCHEMA_VALIDATOR, VALIDATOR),
        'JsonSchemaValidatorOptions',
      ],
      ['JsonSchemaValidator rules', RULE, 'JsonSchemaRule'],
      ['ToolAccess(options)', without(without(TOOL_ACCESS, VALIDATOR), MUTATOR), 'ToolAccessOptions'],
      ['ToolAccess rules', TOOL_RULE, 'ToolRule'],
    ],
  },
  redis: {
    purpose:
      'This page lists the options of `McpRedisModule`, which shares the state of a server among its nodes.',
    sections: [['McpRedisModule.forRoot(options)', REDIS, 'McpRedisOptions']],
  },
  skills: {
    purpose: 'This page lists the options of `McpSkillsModule`, which serves the skills of a folder.',
    sections: [['McpSkillsModule.forRoot(options)', SKILLS, 'McpSkillsOptions']],
  },
  tasks: {
    purpose: 'This page lists the options of `McpTasksModule`, and of `@Tool({ task })`.',
    sections: [
      ['McpTasksModule.forRoot(options)', TASKS, 'McpTasksOptions'],
      ['@Tool task', TOOL_TASK, 'ToolTaskOptions'],
    ],
  },
  telemetry: {
    purpose: 'This page lists the options of `McpTelemetryModule`: those of its log, spans and metrics.',
    sections: [['McpTelemetryModule.forRoot(options)', TELEMETRY, 'McpTelemetryOptions']],
  },
  toolsets: {
    purpose:
      'This page lists the options of `McpToolsetsModule`, of `McpToolSearchModule`, and of the hints of `@Tool`.',
    sections: [
      ['McpToolsetsModule.forRoot(options)', TOOLSETS, 'McpToolsetsOptions'],
      ['McpToolSearchModule.forRoot(options)', TOOL_SEARCH, 'McpToolSearchOptions'],
      ['@Tool hints', HINTS, 'ToolHints'],
    ],
  },
};

function without(schema: object, shared: object): OptionSchema {
  const { properties, ...rest } = schema as OptionSchema;
  const known = Object.keys((shared as OptionSchema).properties ?? {});
  const own = Object.entries(properties ?? {}).filter(([key]) => !known.includes(key));
  return { ...rest, properties: Object.fromEntries(own) };
}
