/** What a server says of itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly websiteUrl?: string;
}

/** What is read of the application's `package.json`. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly homepage?: string;
  /** The server's name in the registry. The registry looks for it in the npm package. */
  readonly mcpName?: string;
  readonly repository?: string | { readonly url?: string; readonly directory?: string };
}

/** The options of the command. */
export interface Given {
  readonly name?: string;
  readonly description?: string;
  readonly urls: readonly string[];
  readonly npm: boolean;
}

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const MAX_DESCRIPTION = 100;

/** The hosts that a registry knows: the shorthand of `package.json`, the host, and the registry's word. */
const HOSTS = [
  ['github', 'github.com'],
  ['gitlab', 'gitlab.com'],
] as const;

/**
 * The `server.json` of a server.
 * @throws Error for a name or a description that the registry refuses
 */
export function describeServer(info: ServerInfo, manifest: Manifest, { urls, npm, ...given }: Given): object {
  const repository = repositoryOf(manifest);
  const name = given.name ?? manifest.mcpName ?? githubName(repository, info.name);
  if (name === undefined)
    throw new Error(
      'package.json has neither "mcpName" nor a GitHub "repository": give --name com.example/shop',
    );
  if (!NAME.test(name) || name.length > 200)
    throw new Error(
      `"${name}" is no name of the registry: give --name with one slash, such as com.example/shop`,
    );
  const description = given.description ?? manifest.description ?? '';
  if (description === '') throw new Error('package.json has no "description": give --description');
  if (description.length > MAX_DESCRIPTION)
    throw new Error(
      `the description has ${description.length} characters, and the registry takes ${MAX_DESCRIPTION}: give --description`,
    );
  const websiteUrl = info.websiteUrl ?? manifest.homepage;
  return {
    $schema: SCHEMA,
    name,
    ...(info.title !== undefined && { title: info.title.slice(0, 100) }),
    description,
    version: info.version,
    ...(repository && { repository }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(urls.length > 0 && { remotes: urls.map(url => ({ type: 'streamable-http', url })) }),
    ...(npm && { packages: [packageOf(manifest, name)] }),
  };
}

function packageOf({ name, version, mcpName }: Manifest, serverName: string): object {
  if (name === undefined || version === undefined)
    throw new Error('--npm: package.json needs a "name" and a "version"');
  if (mcpName !== serverName)
    throw new Error(
      `--npm: set "mcpName": "${serverName}" in package.json, because the registry looks for it`,
    );
  return { registryType: 'npm', identifier: name, version, transport: { type: 'stdio' } };
}

interface Repository {
  readonly url: string;
  readonly source: string;
  readonly subfolder?: string;
}

/** The repository, if it is on a host that the registry knows. */
function repositoryOf({ repository }: Manifest): Repository | undefined {
  const { url = '', directory } = typeof repository === 'string' ? { url: repository } : (repository ?? {});
  // "owner/name" is short for "github:owner/name".
  const text = /^[\w.-]+\/[\w.-]+$/.test(url) ? `github:${url}` : url;
  for (const [source, host] of HOSTS) {
    const [, path] =
      new RegExp(
        `(?:^${source}:|[/@]${host.replace('.', '\\.')}[/:])([^#?]+?)(?:\\.git)?/?(?:[#?].*)?$`,
      ).exec(text) ?? [];
    if (path !== undefined)
      return {
        url: `https://${host}/${path}`,
        source,
        ...(directory !== undefined && { subfolder: directory }),
      };
  }
  return undefined;
}

/** The registry gives each GitHub user the names below `io.github.<user>`. */
function githubName(repository: Repository | undefined, name: string): string | undefined {
  const [, owner] = /^https:\/\/github\.com\/([^/]+)\//.exec(repository?.url ?? '') ?? [];
  return owner === undefined ? undefined : `io.github.${owner}/${name.replaceAll(/[^a-zA-Z0-9._-]+/g, '-')}`;
}
