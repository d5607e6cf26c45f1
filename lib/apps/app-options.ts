import { resolve } from '../options/check-options.js';
import { FLAG, listOf, objectOf, oneOf, TEXT } from '../options/option-schema.js';
import { defined } from '../util/defined.js';

/** What a host lets the view of an app use, besides its own origin. */
export interface AppCsp {
  /** Origins of requests, such as `https://api.example.com`. Default: none. */
  connectDomains?: string[];
  /** Origins of scripts, styles, images and fonts. Default: none. */
  resourceDomains?: string[];
  /** Origins of frames. Default: none. */
  frameDomains?: string[];
  /** Origins of `<base>`. Default: none. */
  baseUriDomains?: string[];
}

export type AppPermission = 'camera' | 'microphone' | 'geolocation' | 'clipboardWrite';

/** Options of `@App`. One of `file`, `html` and `method` gives the view. */
export interface AppOptions {
  /** URI of the view, with the scheme `ui`. */
  uri: string;
  /** Path of an HTML file, relative to the working directory. It is read once, and again when it changes in development. */
  file?: string;
  /** The HTML itself. */
  html?: string;
  /** Name of the method of the class that returns the HTML, for each read. */
  method?: string;
  /** Name in `resources/list`. Default: the name of the class. */
  name?: string;
  /** Name for display. */
  title?: string;
  /** Describes the view in `resources/list`. */
  description?: string;
  /** Name of the server. Default: as for other handlers. */
  server?: string;
  /** Whether `resources/list` shows the view. Hosts read it in either case. Default: true. */
  listed?: boolean;
  /** What the view may use, besides its own origin. Default: nothing. */
  csp?: AppCsp;
  /** What the view may ask the browser for. Default: nothing. */
  permissions?: AppPermission[];
  /** The origin that the host gives to the view, where the host supports it. */
  domain?: string;
  /** Whether the host should draw a border. Default: the host decides. */
  prefersBorder?: boolean;
}

/** The option `ui` of `@Tool`, as an object. */
export interface ToolUiOptions {
  /** URI of the view that shows the result. Default: that of the `@App` on the class. */
  resourceUri?: string;
  /**
   * Who may call the tool: the model, or the views of this server. A host complies with it; guards decide.
   * Default: both.
   */
  visibility?: ('model' | 'app')[];
}

const ORIGINS = listOf(
  { type: 'string', pattern: '^[^\\s;,\'"]+$' },
  'a list of origins, such as "https://api.example.com"',
);

export const APP_CSP = objectOf<AppCsp>({
  connectDomains: ORIGINS,
  resourceDomains: ORIGINS,
  frameDomains: ORIGINS,
  baseUriDomains: ORIGINS,
});

export const APP = objectOf<AppOptions>(
  {
    uri: {
      type: 'string',
      pattern: '^ui://.',
      description: 'a URI with the scheme ui, such as "ui://orders/board"',
    },
    file: TEXT,
    html: TEXT,
    method: TEXT,
    name: TEXT,
    title: TEXT,
    description: TEXT,
    server: TEXT,
    listed: { ...FLAG, default: true },
    csp: APP_CSP,
    permissions: listOf(oneOf('camera', 'microphone', 'geolocation', 'clipboardWrite')),
    domain: TEXT,
    prefersBorder: FLAG,
  },
  {
    title: 'options',
    problem: ({ file, html, method }: AppOptions) =>
      [file, html, method].filter(one => one !== undefined).length === 1
        ? undefined
        : 'give one of "file", "html" and "method"',
  },
);

export const TOOL_UI = objectOf<ToolUiOptions>({
  resourceUri: TEXT,
  visibility: listOf(oneOf('model', 'app'), undefined, 1),
});

const OPTION = objectOf<{ ui: string | ToolUiOptions }>({
  ui: { anyOf: [TEXT, TOOL_UI], description: 'a URI, or an object with resourceUri and visibility' },
});

/** @throws Error for an unknown or wrong option */
export const resolveAppOptions = (options: AppOptions): AppOptions & { readonly listed: boolean } =>
  resolve(APP, options, problem => new Error(problem)) as AppOptions & { readonly listed: boolean };

/** @throws Error for a wrong value */
export function toolUiOf(value: unknown): ToolUiOptions {
  const { ui } = resolve(OPTION, { ui: value as string | ToolUiOptions }, problem => new Error(problem));
  return typeof ui === 'string' ? { resourceUri: ui } : ui;
}

/** `_meta.ui` of a view. Specification: SEP-1865, UI resource format. */
export function uiMetaOf({ csp, permissions, domain, prefersBorder }: AppOptions): Record<string, unknown> {
  const asked = permissions && Object.fromEntries(permissions.map(name => [name, {}]));
  return defined({ csp, permissions: asked, domain, prefersBorder });
}
