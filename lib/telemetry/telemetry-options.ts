import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { FLAG, objectOf, oneOf } from '../options/option-schema.js';

/** Options of `McpTelemetryModule`. */
export interface McpTelemetryOptions {
  /**
   * Records the arguments of tool calls in spans and in the call log, as JSON of at most 8,192 characters. Known forms of
   * secrets are replaced. Default: false.
   */
  recordArguments?: boolean;
  /** Records the results of tool calls in the same way. Default: false. */
  recordResults?: boolean;
  /**
   * How a trace shows each validator and mutator that ran: `events` of the request's span, child `spans`, or `false` for
   * not at all. Default: `events`.
   */
  interceptors?: 'events' | 'spans' | false;
  /** Puts the URI of a resource into the name of its span. Default: false, because backends group spans by name. */
  resourceUriInSpanNames?: boolean;
  /** Level of Nest's `Logger` for the line that each answered request gets. Default: false, which writes no lines. */
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
