import type { Server } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { Entry } from '../../catalog/entries.js';
import { nameOf } from '../../execution/enhancer-steps.js';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { EVENT_OF } from '../../interceptors/protocol/events.js';
import { callerOf } from '../../protocol/caller.js';
import type { McpCall, Params } from '../../protocol/mcp-call.js';
import { LIST_OF, listOf, rowsOf, type ListMethod, type Row } from '../../protocol/methods.js';
import { answerInJson } from '../../server/answer-encoder.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Permissions, Requirement } from '../../protocol/permissions.js';
import { defined } from '../../util/defined.js';
import type { McpServers } from '../../module/mcp-servers.js';
import { REVISION } from '../../server/wire-codec.js';
import type { CallerView, Caller, CallerList, MissingEntry } from '../api.js';
import { callerIn, partIn, revisionIn, serverIn, targetOf } from '../call/caller.js';
import { InProcessClient, type Answer } from '../call/in-process-client.js';
import type { ApiRequest } from '../explorer-site.js';
import { changesOf, type Recording } from '../record/recording.js';
import type { Recorder } from '../record/recorder.js';
import { tokensOf } from './catalogue.js';
import { principalIn } from './principal.js';
import { isIn, methodsOf, type ExtendedMethod } from './methods.js';

const MAX_PAGES = 50;

const NO_TOKEN =
  'The gateway asks "tokenFor" for a token of the caller, and a synthetic caller has none to exchange; paste a token instead';

/** A page of a list, as its caller gets it. */
interface Page {
  readonly status: number;
  readonly response?: Row;
}

type Ask = (method: ListMethod, params: Params) => Promise<{ value: Page; recording: Recording }>;

/** Asks for the lists as a caller does, and finds out what removed the entries that are missing. */
export class CallerViews {
  constructor(
    private readonly servers: McpServers,
    private readonly recorder: Recorder,
    private readonly httpServer: () => Server,
  ) {}

  /** @throws ApiFailure for a request that cannot be answered */
  readonly view = async (request: ApiRequest): Promise<CallerView> => {
    const server = serverIn(request, this.servers);
    const caller = callerIn(request);
    const part = partIn(request, server);
    const revision = revisionIn(request, server);
    if (caller.kind === 'synthetic' && server.handlers.needsTokens) return { refused: NO_TOKEN, lists: [] };
    if (caller.kind === 'synthetic')
      return this.viewOf(server, revision, this.synthetic(server, caller, { revision, part }, request));
    const target = targetOf(server, caller, request, this.httpServer(), this.recorder, part);
    const client = new InProcessClient(target, revision);
    try {
      const opened = await client.open();
      const refused = opened && refusalOf(opened);
      if (refused !== undefined) return { refused, lists: [] };
      return await this.viewOf(server, revision, (method, params) =>
        this.recorder.record(headers => client.request(method, params, headers)),
      );
    } finally {
      await client.close();
    }
  };

  private async viewOf(server: McpServerInstance, revision: string, ask: Ask): Promise<CallerView> {
    const era = revision >= REVISION ? 'modern' : 'legacy';
    const lists: CallerList[] = [];
    let call: McpCall | undefined;
    for (const [kind, method] of Object.entries(LIST_OF)) {
      // A gateway does not know the lists of its backends before its first call.
      if (!server.handlers.isRemote && !server.serves(method, era)) continue;
      const { entries, recordings, refused, isTurnedAway, isCut, isUnserved } = await listFor(method, ask);
      if (isUnserved) continue;
      // No list has an answer.
      if (isTurnedAway) return { refused, lists: [] };
      call ??= recordings[0].calls[0];
      const isWhole = refused === undefined && !isCut;
      const missing = isWhole ? await missingOf(server, kind, method, entries, recordings) : [];
      lists.push({
        method,
        entries,
        missing,
        ...(kind === 'tool' && { tokens: entries.map(tokensOf) }),
        ...(isCut && { isCut }),
        ...(refused !== undefined && { refused }),
      });
    }
    const methods = methodsOf(server).filter(method => isIn(method, era));
    if (methods.length > 0) {
      if (!call) {
        // A server without lists refuses the request, which nevertheless shows its caller.
        const { recordings, refused, isTurnedAway } = await listFor('tools/list', ask);
        if (isTurnedAway) return { refused, lists: [] };
        call = recordings[0].calls[0];
      }
      if (call) lists.push(await methodList(server, methods, call));
    }
    return { caller: whoIs(call), lists };
  }

  /** Asks the pipeline itself, for no token stands for this caller. */
  private synthetic(
    server: McpServerInstance,
    { scopes, roles }: Extract<Caller, { kind: 'synthetic' }>,
    { revision, part }: { readonly revision: string; readonly part: string },
    { signal, address }: ApiRequest,
  ): Ask {
    const view = server.extensions.views?.of(part, {}, part !== '') || undefined;
    const extra = { sub: 'synthetic', roles };
    const authInfo = { token: '', clientId: 'synthetic', scopes: [...scopes], extra };
    const header = () => undefined;
    const request = {
      headers: {},
      rawHeaders: [],
      get: header,
      header,
      ip: address,
      socket: { remoteAddress: address },
      auth: authInfo,
      user: { ...extra, scopes },
    };
    return async (method, params) => {
      const call: McpCall = {
        requestId: 0,
        method,
        params,
        era: revision >= REVISION ? 'modern' : 'legacy',
        protocolVersion: revision,
        isSynthetic: true,
        reply: { signal, notify: async () => undefined },
        authInfo,
        http: { request, response: {}, headers: {}, rawHeaders: [], caller: '["synthetic"]', view },
      };
      return this.recorder.recordCall(call, async () => {
        const { json, status } = await answerInJson(server, call);
        return { status, response: JSON.parse(json) as Row };
      });
    };
  }
}

/** A whole list, as its caller gets it page by page. */
async function listFor(method: ListMethod, ask: Ask) {
  const entries: Row[] = [];
  const recordings: Recording[] = [];
  let cursor: unknown;
  for (;;) {
    const { value, recording } = await ask(method, cursor === undefined ? {} : { cursor });
    const { status, response } = value;
    const { code } = (response?.['error'] ?? {}) as { code?: unknown };
    const result = (response?.['result'] ?? {}) as Row;
    recordings.push(recording);
    entries.push(...rowsOf(method, result));
    cursor = result['nextCursor'];
    if (cursor !== undefined && recordings.length < MAX_PAGES) continue;
    const refused = refusalOf(value);
    return {
      entries,
      recordings,
      refused,
      /** Whether the transport refuses the caller itself. */
      isTurnedAway: refused !== undefined && [401, 403].includes(status),
      isCut: cursor !== undefined,
      isUnserved: code === McpErrorCode.MethodNotFound,
    };
  }
}

function refusalOf({ status, response }: Page | Answer): string | undefined {
  const { message } = (response?.['error'] ?? {}) as { message?: unknown };
  if (typeof message === 'string') return message;
  return response?.['result'] === undefined ? `The server answered with HTTP ${status}` : undefined;
}

/** The result of the application's authentication. */
function whoIs(call: McpCall | undefined): NonNullable<CallerView['caller']> {
  const { scopes = [], extra } = call?.authInfo ?? {};
  const user = (call?.http?.request as { user?: { roles?: unknown } } | undefined)?.user;
  const roles = extra?.['roles'] ?? user?.roles;
  const name =
    call && !call.isSynthetic ? principalIn(callerOf(call.authInfo, call.http?.request)) : undefined;
  return {
    ...(name !== undefined && { name }),
    scopes,
    roles: Array.isArray(roles) ? roles.map(String) : [],
  };
}

async function missingOf(
  server: McpServerInstance,
  kind: string,
  method: ListMethod,
  shown: readonly Row[],
  recordings: readonly Recording[],
): Promise<MissingEntry[]> {
  const { key: member } = listOf(method);
  const keys = new Set(shown.map(row => row[member]));
  const entries = [...server.table.enabled()].filter(entry => entry.kind === kind && !keys.has(entry.key));
  return Promise.all(
    entries.map(async entry => ({
      kind: entry.kind,
      name: entry.key,
      ...(await reasonOf(server, method, entry, recordings)),
    })),
  );
}

/** The methods of extensions. Those that the caller may not call are missing. */
async function methodList(
  server: McpServerInstance,
  methods: readonly ExtendedMethod[],
  call: McpCall,
): Promise<CallerList> {
  const entries: Row[] = [];
  const missing: MissingEntry[] = [];
  for (const { name, own, entry } of methods) {
    const reason = (await own.isHidden?.(call))
      ? ({ by: 'guard', names: ['@Visible'], why: '@Visible hides it' } as const)
      : lackOf(server.permissions, 'allows', own.requirement, call);
    if (reason) missing.push({ kind: 'method', name, ...reason });
    else entries.push(defined({ name, inputSchema: entry?.params, nameHeader: own.nameHeader }));
  }
  return { method: 'extension methods', entries, missing };
}

type Reason = Omit<MissingEntry, 'kind' | 'name'>;

/** Why a caller lacks the permission; undefined if it has it. */
function lackOf(
  permissions: Permissions | undefined,
  rule: 'allows' | 'shows',
  requirement: Requirement | undefined,
  { http, authInfo }: McpCall,
): Reason | undefined {
  if (!http || !permissions || permissions[rule](requirement, authInfo)) return undefined;
  const { scopes = [] } = requirement ?? {};
  const isReachable = rule === 'shows' && permissions.lists === 'reachable';
  if (!authInfo && !isReachable) return { by: 'token', names: scopes, why: 'It needs a token' };
  const lacking = scopes.filter(scope => !permissions[rule]({ scopes: [scope], anonymous: false }, authInfo));
  const why = `The caller lacks the scope ${lacking.join(', ')}`;
  const remedy = ', which "scopesSupported" of McpAuthModule does not name';
  return { by: 'scope', names: lacking, why: isReachable ? `${why}${remedy}` : why };
}

/** The same objects that decided on the list say why, in the order in which they decide. */
async function reasonOf(
  { visibility, permissions }: McpServerInstance,
  method: ListMethod,
  entry: Entry,
  recordings: readonly Recording[],
): Promise<Reason> {
  const call = recordings[0].calls.find(one => one.method === method);
  if (call?.http?.view?.has(entry) === false)
    return { by: 'part', names: [], why: 'It is not in this part of the server' };
  const hidingGuard = call && (await visibility.hidingGuard(entry, call));
  if (hidingGuard) {
    const guard = hidingGuard.guard ? nameOf(hidingGuard.guard) : '@Visible';
    const { error } = hidingGuard;
    // The message of an error can hold secrets.
    const verb =
      error === undefined || error instanceof HttpException
        ? 'hides it'
        : `failed with ${nameOf(error)}; the log of the application has the message`;
    return { by: 'guard', names: [guard], why: `@Visible(${guard}) ${verb}` };
  }
  const lack = call && lackOf(permissions, 'shows', entry.requirement, call);
  if (lack) return lack;
  const remover = removerOf(method, entry.key, recordings);
  return remover === undefined
    ? { by: 'interceptor', names: [], why: 'An interceptor or an extension removed it before the answer' }
    : { by: 'interceptor', names: [remover], why: `The interceptor ${remover} removes it from the list` };
}

/** The first mutator before whose change the list has the entry, and after it no more. */
function removerOf(method: ListMethod, name: string, recordings: readonly Recording[]): string | undefined {
  const { key } = listOf(method);
  const has = (payload: unknown) => rowsOf(method, payload ?? {}).some(row => row[key] === name);
  for (const run of recordings.flatMap(({ runs }) => runs)) {
    const { event, phase, response } = run.result;
    if (event !== EVENT_OF[method]) continue;
    if (phase === 'request' && response && !has(response.result)) return response.interceptor;
    for (const [entry, [before, after]] of changesOf(run)) {
      if (phase === 'response' && entry.mode !== 'audit' && has(before) && !has(after)) {
        return `${entry.host}/${entry.interceptor}`;
      }
    }
  }
  return undefined;
}
