import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { FLAG, objectOf, oneOf } from '../options/option-schema.js';

/** Options of `McpTelemetryModule`. */
export interface McpTelemetryOptions {
  /**
   * Records the arguments of tool calls in spans and in the call log, as JSON of at most 8,192 characters. Secrets that are
   * known by their form are replaced. Default: false.
   */
  recordArguments?: boolean;
  /** The same for the results of tool calls. Default: false.  */
  recordResults?: boolean;
  /**
   * What a trace shows of each validator and mutator that ran: an event of the request's span, a child span, or nothing.
   * Default: `events`.
   */
  interceptors?: 'events' | 'spans' | false;
  /** Puts the URI of a resource into the name of its span. Default: false, because backends group spans by name. */
  resourceUriInSpanNames?: boolean;
  /** Writes a line for each request that a server answered, at this level of Nest's `Logger`. Default: false, no line. */
  callLog?: 'log' | 'debug' | 'verbose' | false;
}

export type TelemetrySettings = Readonly<Required<McpTelemetryOptions>>;

export const TELEMETRY = objectOf<McpTelemetryOptions, TelemetrySettings>(
  {
    recordArguments: { ...FLAG, default: false },
    recordResults: { ...FLAG, default: false },
    interceptors: { ...oneOf('events', 'spans', false), default: 'events' },
    resourceUriInSpanNames: { ...FLAG, default: false },
    callLog: { ...oneOf('log', 'debug', 'verbose', false), default: false },
  },
  { title: 'options' },
);

/** @throws McpBootstrapError for an unknown or wrong option */
export const resolveTelemetryOptions = (options: McpTelemetryOptions): TelemetrySettings =>
  resolve(TELEMETRY, options, problem => new McpBootstrapError('McpTelemetryModule', problem));
