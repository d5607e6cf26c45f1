import { LEGACY_REVISIONS, REVISION } from '../server/wire-codec.js';

/**
 * Every name that telemetry exports. The MCP conventions of OpenTelemetry are in development, so that names may change
 * with a minor version (open-telemetry/semantic-conventions-genai, `docs/gen-ai/mcp.md`).
 */
export const ATTR = {
  method: 'mcp.method.name',
  protocolVersion: 'mcp.protocol.version',
  sessionId: 'mcp.session.id',
  resourceUri: 'mcp.resource.uri',
  requestId: 'jsonrpc.request.id',
  statusCode: 'rpc.response.status_code',
  errorType: 'error.type',
  operation: 'gen_ai.operation.name',
  toolName: 'gen_ai.tool.name',
  promptName: 'gen_ai.prompt.name',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  transport: 'network.transport',
  protocolName: 'network.protocol.name',
  httpVersion: 'network.protocol.version',
  clientAddress: 'client.address',
  clientPort: 'client.port',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

/** Attributes that no convention covers. */
export const OWN = {
  /** Name of the server or connection of this application that the request belongs to. */
  peer: 'nestjs_mcp.name',
  resultType: 'nestjs_mcp.result.type',
  link: 'nestjs_mcp.link',
  interceptorEvent: 'nestjs_mcp.interceptor',
  interceptor: 'nestjs_mcp.interceptor.name',
  host: 'nestjs_mcp.interceptor.host',
  event: 'nestjs_mcp.interceptor.event',
  phase: 'nestjs_mcp.interceptor.phase',
  mode: 'nestjs_mcp.interceptor.mode',
  outcome: 'nestjs_mcp.interceptor.outcome',
  duration: 'nestjs_mcp.interceptor.duration',
  failedOpen: 'nestjs_mcp.interceptor.failed_open',
  reason: 'nestjs_mcp.reason',
  /** A hash, because the id of an anonymous caller's task is its credential. */
  taskId: 'nestjs_mcp.task.id',
  taskRun: 'nestjs_mcp.task.run',
  taskStatus: 'nestjs_mcp.task.status',
} as const;

export const METRIC = {
  serverOperation: 'mcp.server.operation.duration',
  clientOperation: 'mcp.client.operation.duration',
  serverSession: 'mcp.server.session.duration',
  clientSession: 'mcp.client.session.duration',
  open: {
    calls: 'nestjs_mcp.calls',
    hanging: 'nestjs_mcp.hanging_calls',
    sessions: 'nestjs_mcp.sessions',
    listeners: 'nestjs_mcp.listeners',
    inputRequests: 'nestjs_mcp.input_requests',
    responses: 'nestjs_mcp.http.responses',
    eventStore: 'nestjs_mcp.event_store.size',
    tasks: 'nestjs_mcp.tasks',
    runningTasks: 'nestjs_mcp.running_tasks',
  },
  breaker: 'nestjs_mcp.interceptor.breaker',
  refusals: 'nestjs_mcp.refusals',
  interceptors: 'nestjs_mcp.interceptor.outcomes',
  rounds: 'nestjs_mcp.call.rounds',
  task: 'nestjs_mcp.task.duration',
} as const;

/** In seconds, as the conventions advise. */
export const DURATION_BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** In seconds. A task may take hours. */
export const TASK_BOUNDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];
export const ROUND_BOUNDS = [2, 3, 4, 5, 7, 10];

export const EXECUTE_TOOL = 'execute_tool';
export const TOOL_ERROR = 'tool_error';
/** Stands for a value without a name, or a value that a caller invented. */
export const OTHER = '_OTHER';

/** Codes of JSON-RPC and of MCP, which metrics name. A client or another server can invent any other code. */
export const KNOWN_CODES: ReadonlySet<string> = new Set([
  '-32700',
  '-32603',
  '-32602',
  '-32601',
  '-32600',
  '-32042',
  '-32022',
  '-32021',
  '-32020',
  '-32002',
  '-32001',
  '-32000',
]);

/** Revisions that metrics name. */
export const KNOWN_VERSIONS: ReadonlySet<string> = new Set([REVISION, ...LEGACY_REVISIONS]);
