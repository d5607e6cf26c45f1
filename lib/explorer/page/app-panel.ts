import type { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import type { AppView, CallRequest, CallTrace, Shown } from '../api.js';
import { dangerOf } from './callable.js';
import { post } from './client.js';
import { alertOf, badge, code, confirmed, fill, h, labelled, select, type Child } from './dom.js';
import { traceView } from './trace-view.js';
import { isList, isRecord, pretty, textOf, type Json } from './values.js';

const TOO_LONG = 'The result is too long for the explorer, which cuts it';

const HOST = { name: 'nestjs-mcp-explorer', version: '1.0.0' };

/** The largest height that the view gets, in pixels. */
const MAX_HEIGHT = 800;

type Theme = 'light' | 'dark';
type Result = Awaited<ReturnType<NonNullable<AppBridge['oncalltool']>>>;

/** A result, and the tool whose view shows it. */
interface ShownResult {
  readonly request: Pick<CallRequest, 'server' | 'caller' | 'revision' | 'params'>;
  readonly tool: Json;
  /** The tools that the view may call. */
  readonly tools: readonly Json[];
  readonly result: Shown;
}

/** Shows a result in its view as a host does: in a frame of another origin, through `AppBridge`. */
export class AppPanel extends HTMLElement {
  shown!: ShownResult;
  private bridge?: AppBridge;
  /** Whether the view has asked for its context. Before that, a host sends nothing. */
  private isReady = false;
  private frame?: HTMLIFrameElement;
  private readonly theme = select([
    ['light', 'Light'],
    ['dark', 'Dark'],
  ]);
  private readonly width = select([
    ['100%', 'All there is'],
    ['768', '768 px'],
    ['480', '480 px'],
    ['320', '320 px'],
  ]);
  private readonly place = h('div');
  private readonly messages = h('ol.timeline', { 'aria-label': 'Messages of the view' });

  /** The frame is loaded again whenever the panel is shown again. */
  connectedCallback(): void {
    if (!this.firstChild) this.build();
    void this.start();
  }

  disconnectedCallback(): void {
    this.isReady = false;
    void this.bridge?.close();
  }

  private build(): void {
    this.theme.value = themeOfPage();
    for (const field of [this.theme, this.width]) field.addEventListener('change', () => this.look());
    this.append(
      h('h4', 'View'),
      h('div.row', labelled('Theme of the view', this.theme), labelled('Width of the view', this.width)),
      this.place,
      h('h4', 'Messages of the view'),
      this.messages,
    );
  }

  private async start(): Promise<void> {
    const { request, tool } = this.shown;
    const { server, caller, revision } = request;
    try {
      const [view, { AppBridge, PostMessageTransport }] = await Promise.all([
        post<AppView>('view', { server, caller, revision, uri: uriOfView(tool) }),
        import('./app-bridge.js'),
      ]);
      if (!this.isConnected) return;
      const frame = h('iframe', {
        title: `View of ${textOf(tool['name'])}`,
        sandbox: 'allow-scripts',
        src: `view.html?csp=${encodeURIComponent(JSON.stringify(view.csp))}`,
        height: 300,
      });
      const loaded = new Promise(resolve => frame.addEventListener('load', resolve, { once: true }));
      this.frame = frame;
      fill(this.place, frame);
      const target = frame.contentWindow!;
      const capabilities = { serverTools: {}, serverResources: {}, logging: {} };
      this.look();
      this.bridge = new AppBridge(null, HOST, capabilities, { hostContext: this.context() });
      this.listen(this.bridge);
      await this.bridge.connect(new PostMessageTransport(target, target));
      await loaded;
      // The origin of the frame is opaque, so that it cannot be named.
      target.postMessage({ html: view.html }, '*');
    } catch (error) {
      fill(this.place, alertOf(error));
    }
  }

  private listen(bridge: AppBridge): void {
    bridge.oninitialized = () => {
      const { request, result } = this.shown;
      const { arguments: args = {} } = request.params;
      this.isReady = true;
      this.look();
      void bridge.sendToolInput({ arguments: args as Json });
      if (result.preview === undefined) void bridge.sendToolResult(result.value as Result);
      else this.say('tool-result', TOO_LONG);
    };
    bridge.oncalltool = ({ name, arguments: args = {} }) => this.callTool(name, args);
    bridge.onreadresource = ({ uri }) => this.call('resources/read', uri, { uri });
    bridge.onloggingmessage = ({ level, logger, data }) => {
      this.say(level, logger === undefined ? '' : `${logger}: `, textOf(data));
    };
    bridge.onmessage = async params => {
      this.say('ui/message', code(pretty(params), 'Message for the chat'));
      return {};
    };
    bridge.onupdatemodelcontext = async params => {
      this.say('ui/update-model-context', code(pretty(params), 'Context for the model'));
      return {};
    };
    bridge.onsizechange = ({ height }) => {
      if (height !== undefined && this.frame) this.frame.height = String(Math.min(height, MAX_HEIGHT));
    };
  }

  /** @throws Error for a tool that is not for views, and for a call that the user refuses */
  private async callTool(name: string, args: Json): Promise<Result> {
    const tool = this.shown.tools.find(one => one['name'] === name) ?? {};
    const { visibility } = uiOf(tool);
    if (isList(visibility) && !visibility.includes('app')) {
      throw new Error(`Hosts refuse the call: the "visibility" of ${name} has no "app"`);
    }
    const danger = dangerOf(tool);
    if (danger !== null && !(await confirmed(`The view calls ${name}: ${danger}.`, 'Call'))) {
      throw new Error('The user refused the call');
    }
    return this.call('tools/call', name, { name, arguments: args });
  }

  /** @throws Error for a call without a result */
  private async call<Answer>(method: string, name: string, params: Json): Promise<Answer> {
    const { server, caller, revision } = this.shown.request;
    const request: CallRequest = { server, caller, revision, method, params, confirmed: true };
    const trace = await post<CallTrace>('call', request);
    this.say(method, h('code', name), ...traceView(trace));
    if (trace.error) throw new Error(trace.error.message);
    if (trace.outcome !== 'result')
      throw new Error('The preview answers no elicitations, and polls no tasks');
    if (trace.result?.preview !== undefined) throw new Error(TOO_LONG);
    return trace.result?.value as Answer;
  }

  private say(kind: string, ...message: Child[]): void {
    this.messages.append(h('li.run', badge(kind), ' ', ...message));
  }

  private context(): NonNullable<ConstructorParameters<typeof AppBridge>[3]>['hostContext'] {
    const width = this.frame?.clientWidth;
    return {
      theme: this.theme.value as Theme,
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      containerDimensions: { maxHeight: MAX_HEIGHT, ...(width !== undefined && { width }) },
      locale: navigator.language,
      platform: 'web',
    };
  }

  private look(): void {
    if (!this.frame) return;
    this.frame.width = this.width.value;
    // The view sees it as its `prefers-color-scheme`.
    this.frame.style.colorScheme = this.theme.value;
    if (this.isReady) this.bridge?.setHostContext(this.context()!);
  }
}

const themeOfPage = (): Theme => {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
};

function uiOf({ _meta }: Json): Json {
  const ui = isRecord(_meta) ? _meta['ui'] : undefined;
  return isRecord(ui) ? ui : {};
}

/** The URI of the view of a tool, if it has one. */
export function uriOfView(tool: Json): string | undefined {
  const { _meta } = tool;
  // The second key is that of servers older than the extension.
  const uri = uiOf(tool)['resourceUri'] ?? (isRecord(_meta) ? _meta['ui/resourceUri'] : undefined);
  return typeof uri === 'string' ? uri : undefined;
}

export const appPanel = (shown: ShownResult): AppPanel => Object.assign(new AppPanel(), { shown });
