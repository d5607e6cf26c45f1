import { join } from 'node:path';
import { isFolder } from '../../files.js';
import { packageManagerOf } from '../../package-manager.js';
import type { Check, Finding } from '../finding.js';
import type { SetUp } from '../set-up.js';

/** The packages that must exist once: Nest compares their classes, and metadata is kept in them. */
const SINGLE = ['nestjs-mcp', '@nestjs/common', '@nestjs/core', 'reflect-metadata', 'class-transformer'];

/** The packages that every server needs. */
const NEEDED = ['nestjs-mcp', '@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

/** What a source says, and the optional package that it then needs. */
const OPTIONAL: readonly (readonly [says: RegExp, name: string, forWhat: string])[] = [
  [/['"]nestjs-mcp\/client['"]/, '@modelcontextprotocol/client', 'nestjs-mcp/client'],
  [/['"]nestjs-mcp\/gateway['"]/, '@modelcontextprotocol/client', 'nestjs-mcp/gateway'],
  [/['"]nestjs-mcp\/testing['"]/, '@modelcontextprotocol/client', 'nestjs-mcp/testing'],
  [/['"]nestjs-mcp\/redis['"]/, 'redis', 'nestjs-mcp/redis'],
  [/['"]nestjs-mcp\/telemetry['"]/, '@opentelemetry/api', 'nestjs-mcp/telemetry'],
  [/\bjwtVerifier\b/, 'jose', 'jwtVerifier'],
  [/\bMcpToolSearchModule\b/, 'minisearch', 'McpToolSearchModule'],
  [/['"]class-validator['"]/, 'class-validator', 'a DTO'],
  [/['"]class-validator['"]/, 'class-transformer', 'a DTO'],
];

export const notInstalled: Check = setUp =>
  isInstalled(setUp)
    ? []
    : [
        {
          heading: 'The packages are not installed',
          seen: 'there is no folder node_modules',
          remedy: `Run ${packageManagerOf(setUp.cwd)} install`,
        },
      ];

/** Packages that the sources need, and the platform over which Nest serves HTTP. */
export const missing: Check = setUp => {
  if (!isInstalled(setUp)) return [];
  const wanted = [
    ...NEEDED.map(name => [name, 'every server'] as const),
    ...OPTIONAL.flatMap(([says, name, forWhat]) => {
      const source = setUp.sources.find(({ text }) => says.test(text));
      return source ? [[name, `${forWhat} in ${source.path}`] as const] : [];
    }),
    ...platformOf(setUp),
  ];
  const manager = packageManagerOf(setUp.cwd);
  const absent = new Map(wanted.filter(([name]) => !setUp.installed(name)).reverse());
  return [...absent].reverse().map(([name, forWhat]): Finding => ({
    heading: 'A package is missing',
    seen: `${name} is not installed, and ${forWhat} needs it`,
    remedy: `Run ${manager} ${manager === 'npm' ? 'install' : 'add'} ${name}`,
  }));
};

function platformOf(setUp: SetUp): (readonly [string, string])[] {
  const source = setUp.sources.find(({ text }) => /\bNestFactory\.create(<[^(]*>)?\(/.test(text));
  // A source that names another adapter imports its package, which the compiler finds.
  if (!source || setUp.sources.some(({ text }) => /\b\w+Adapter\(/.test(text))) return [];
  return [['@nestjs/platform-express', `NestFactory.create in ${source.path}`]];
}

export const twoCopies: Check = setUp =>
  SINGLE.flatMap((name): Finding[] => {
    const own = setUp.installed(name);
    if (!own) return [];
    const other = dependantsOf(setUp)
      .flatMap(folder => setUp.installed(name, folder) ?? [])
      .find(({ folder }) => folder !== own.folder);
    if (!other) return [];
    const places = [own, other].map(({ folder, version }) => `${version} in ${setUp.shortened(folder)}`);
    return [
      {
        heading: 'Two copies of a package',
        seen: `${name}: ${places.join(', and ')}`,
        remedy: `Use one version, and run ${packageManagerOf(setUp.cwd)} dedupe; a linked package takes ${name} as a peer dependency`,
      },
    ];
  });

/** The folders of the packages that the application installs by name. */
function dependantsOf(setUp: SetUp): string[] {
  const { dependencies = {}, devDependencies = {} } = setUp.manifest;
  return Object.keys({ ...dependencies, ...devDependencies }).flatMap(
    name => setUp.installed(name)?.folder ?? [],
  );
}

const isInstalled = (setUp: SetUp): boolean =>
  isFolder(join(setUp.cwd, 'node_modules')) || setUp.installed('@nestjs/core') !== undefined;
