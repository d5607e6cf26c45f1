// An application with 302 tools in 13 classes, and 20 interceptors.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { Injectable, UseGuards, UseInterceptors, UsePipes } = require('@nestjs/common');
const { APP_GUARD } = require('@nestjs/core');
const nestMcp = require('nestjs-mcp');
const { McpExplorerModule } = require('nestjs-mcp/explorer');
const { Args, Ctx, deny, McpModule, Mutator, Prompt, Resource, ResourceTemplate } = nestMcp;
const { Sink, Tool, Validator, Visible } = nestMcp;

const NOUNS = [
  ...['customer', 'invoice', 'order', 'parcel', 'payment', 'product'],
  ...['refund', 'report', 'stock', 'supplier', 'user', 'webhook'],
];
const VERBS = [
  ...['approve', 'archive', 'assign', 'cancel', 'close', 'compare', 'count', 'create', 'delete', 'export'],
  ...['find', 'get', 'import', 'list', 'merge', 'move', 'open', 'print', 'reject', 'rename', 'restore'],
  ...['split', 'tag', 'update'],
];
const READING = ['compare', 'count', 'export', 'find', 'get', 'list', 'print'];

const named = (name, value) => Object.defineProperty(value, 'name', { value: name });
const capital = text => text[0].toUpperCase() + text.slice(1);

/** Declares a method, with decorators in the order of its source. */
function method(type, name, run, ...decorators) {
  Object.defineProperty(type.prototype, name, { value: run, writable: true, configurable: true });
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name);
  for (const one of decorators.reverse()) one(type.prototype, name, descriptor);
}

const args = (...decorators) => [
  (prototype, name) => Reflect.defineMetadata('design:paramtypes', [Object, Object], prototype, name),
  (prototype, name) => Args()(prototype, name, 0),
  (prototype, name) => Ctx()(prototype, name, 1),
  ...decorators,
];

const guard = (name, admits) => {
  const type = named(name, class {});
  type.prototype.canActivate = admits;
  Injectable()(type);
  return type;
};
const SessionGuard = guard('SessionGuard', () => true);
const TenantGuard = guard('TenantGuard', () => true);
const ClerkGuard = guard('ClerkGuard', context => {
  const { user } = context.switchToHttp().getRequest();
  return user?.roles?.includes('clerk') === true;
});
const Timing = named('TimingInterceptor', class {});
Timing.prototype.intercept = (_context, next) => next.handle();
const Trimming = named('TrimmingPipe', class {});
Trimming.prototype.transform = value => value;

/** 24 tools about one thing. */
function toolsOf(noun) {
  const type = named(`${capital(noun)}Tools`, class {});
  for (const verb of VERBS) {
    const isReading = READING.includes(verb);
    const own = isReading ? [] : [UseGuards(TenantGuard)];
    const hidden = verb === 'delete' ? [Visible(ClerkGuard), UseGuards(ClerkGuard)] : [];
    const properties = {
      id: { type: 'string', description: `Number of the ${noun}`, minLength: 1 },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    };
    const described = verb === 'tag' ? {} : { description: `${capital(verb)}s a ${noun} of the shop.` };
    const annotated = verb === 'move' ? {} : { annotations: { readOnlyHint: isReading } };
    const inputSchema = { type: 'object', properties, required: ['id'] };
    method(
      type,
      `${verb}${capital(noun)}`,
      ({ id }) => `${verb} ${noun} ${id}`,
      ...args(...own, ...hidden, Tool({ ...described, ...annotated, inputSchema })),
    );
  }
  UseInterceptors(Timing)(type);
  Injectable()(type);
  return type;
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const QUERY = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const NONE = { type: 'object' };
const reads = { readOnlyHint: true };

/** Tools whose answers have all forms. */
const Desk = named('DeskTools', class {});
method(
  Desk,
  'search',
  async ({ query }, ctx) => {
    const rows = [];
    for (let shelf = 1; shelf <= 4; shelf++) {
      await ctx.reportProgress(shelf, 4, `Shelf ${shelf}`);
      await ctx.log.info(`Looked for ${query} on shelf ${shelf}`);
      rows.push({ shelf, name: `${query} ${shelf}`, price: shelf * 12.5, inStock: shelf % 2 === 0 });
    }
    const structuredContent = { query, rows, total: { count: rows.length, pages: 1 } };
    return { content: [{ type: 'text', text: `${rows.length} hits for ${query}` }], structuredContent };
  },
  ...args(
    UsePipes(Trimming),
    UseGuards(TenantGuard),
    Tool({ description: 'Searches the shelves for a product.', annotations: reads, inputSchema: QUERY }),
  ),
);
method(
  Desk,
  'media',
  () => ({
    content: [
      { type: 'text', text: 'A picture, a sound, a link and a document' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: SOUND, mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'shop://hours', name: 'hours', description: 'Opening hours' },
      { type: 'resource', resource: { uri: 'shop://terms', mimeType: 'text/plain', text: 'The terms' } },
    ],
  }),
  Tool({ description: 'Answers with each form of content.', annotations: reads }),
);
const SIZE = {
  type: 'object',
  properties: { size: { type: 'string', enum: ['S', 'M', 'L'], description: 'Size of the shirt' } },
  required: ['size'],
};
method(
  Desk,
  'shirt',
  async (_args, ctx) => {
    const answer = await ctx.elicit('size', { message: 'Which size?', schema: SIZE });
    return answer.action === 'accept' ? `A shirt of size ${answer.content.size}` : 'No shirt';
  },
  ...args(Tool({ description: 'Orders a shirt; asks for its size.', annotations: reads, inputSchema: NONE })),
);
method(
  Desk,
  'slow',
  async (_args, ctx) => {
    await ctx.reportProgress(1, 2, 'Half');
    await new Promise(resolve => Desk.waiting.push(resolve));
    return 'Done';
  },
  ...args(Tool({ description: 'Reports progress, and then waits.', annotations: reads, inputSchema: NONE })),
);
Desk.waiting = [];
const [fail, crash, whoami, quiet, note, echo] = [
  ['fail', () => ({ content: [{ type: 'text', text: 'The shelf is empty' }], isError: true })],
  [
    'crash',
    () => {
      throw new Error('Broken');
    },
  ],
  ['whoami', (_args, ctx) => ctx.authInfo?.clientId ?? 'Nobody'],
  ['quiet', () => undefined],
  ['note', () => 'Noted'],
  ['echo', given => JSON.stringify(given).length],
];
for (const [name, run] of [fail, crash, whoami, quiet, note]) {
  method(
    Desk,
    name,
    run,
    ...args(Tool({ description: `Shows ${name}.`, annotations: reads, inputSchema: NONE })),
  );
}
method(
  Desk,
  ...echo,
  ...args(
    Tool({
      description: 'Counts the characters of its arguments.',
      annotations: reads,
      inputSchema: { type: 'object', properties: { text: { type: 'string' }, deep: { type: 'object' } } },
    }),
  ),
);
method(Desk, 'greeting', () => 'Say hello', Prompt({ description: 'Greets a customer' }));
method(Desk, 'hours', () => '9 to 5', Resource({ uri: 'shop://hours', description: 'Opening hours' }));
method(
  Desk,
  'shelf',
  uri => `Shelf ${uri}`,
  ResourceTemplate({ uriTemplate: 'shop://shelves/{id}', description: 'A shelf' }),
);
// 12 × 24 tools, 10 above and these.
for (const name of ['ping', 'status', 'version', 'about']) {
  method(Desk, name, () => name, Tool({ description: `Says its ${name}.`, annotations: reads }));
}
Injectable()(Desk);

/** Eight validators, seven mutators and five sinks. */
const Policies = named('ShopPolicies', class {});
const call = { events: ['tools/call'] };
const validators = [
  ['requireTenant', {}],
  ['noSecrets', { final: true }],
  ['shortQueries', { mode: 'audit', when: { name: 'search' } }],
  ['limitBatch', { failOpen: true }],
  ['plainIds', {}],
  ['businessHours', { mode: 'audit' }],
  ['noScripts', { when: { name: 'updateProduct' } }],
  ['knownCurrency', { when: { name: 'createPayment' } }],
];
for (const [name, more] of validators) {
  method(
    Policies,
    name,
    ({ payload }) => {
      const { query = '' } = payload.arguments ?? {};
      if (name === 'noSecrets' && query.includes('secret')) return deny('The query names a secret');
      return name !== 'shortQueries' || query.length < 12 || deny('The query is too long');
    },
    Validator({ name, ...call, phase: 'request', ...more }),
  );
}
const mutators = [
  ['trimText', 'request', { priority: 10, when: { name: 'search' } }],
  ['addRegion', 'request', { priority: 20 }],
  ['lowerCase', 'request', { mode: 'audit', priority: 30, when: { name: 'search' } }],
  ['hideCards', 'response', { priority: 10 }],
  ['shorten', 'response', { priority: 20 }],
  ['addFooter', 'response', { priority: 30, when: { name: 'note' } }],
];
for (const [name, phase, more] of mutators) {
  method(
    Policies,
    name,
    ({ payload }) => {
      const { query } = payload.arguments ?? {};
      if (name === 'trimText' && query !== query?.trim())
        return { ...payload, arguments: { ...payload.arguments, query: query.trim() } };
      if (name === 'lowerCase' && query !== query?.toLowerCase())
        return { ...payload, arguments: { ...payload.arguments, query: query.toLowerCase() } };
      return undefined;
    },
    Mutator({ name, ...call, phase, ...more }),
  );
}
method(
  Policies,
  'hideQuiet',
  ({ payload }) => ({ ...payload, tools: payload.tools.filter(({ name }) => name !== 'quiet') }),
  Mutator({ name: 'hideQuiet', events: ['tools/list'], phase: 'response' }),
);
for (const [name, events] of [
  ['auditTrail', ['tools/call']],
  ['usage', ['tools/*']],
  ['slowLog', ['tools/call']],
  ['promptLog', ['prompts/get']],
  ['listLog', ['tools/list']],
]) {
  method(Policies, name, () => undefined, Sink({ name, events, phase: 'both' }));
}
Injectable()(Policies);

/** Takes roles from a token such as `clerk.orders:read`. Anonymous callers have none. */
const TokenGuard = guard('TokenGuard', context => {
  const request = context.switchToHttp().getRequest();
  const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  if (token) request.user = { sub: token, roles: [token] };
  return true;
});

export class LargeModule {
  /** Lets the tool `slow` go on. */
  static goOn() {
    for (const resolve of Desk.waiting.splice(0)) resolve();
  }
}
Reflect.defineMetadata(
  'imports',
  [
    McpModule.forRoot({
      name: 'shop',
      version: '4.2.0',
      title: 'Shop of everything',
      interceptors: { overrides: { plainIds: { mode: 'audit' }, shorten: { timeoutMs: 250 } } },
    }),
    McpModule.forRoot({ name: 'status', version: '1.0.0', http: { path: '/status' } }),
    McpExplorerModule.forRoot(),
  ],
  LargeModule,
);
Reflect.defineMetadata(
  'providers',
  [
    ...NOUNS.map(toolsOf),
    ...[Desk, Policies, SessionGuard, TenantGuard, ClerkGuard],
    { provide: APP_GUARD, useClass: TokenGuard },
  ],
  LargeModule,
);
