import { join } from 'node:path';
import type Typescript from 'typescript';
import { isFile } from '../../files.js';
import type { Check, Finding } from '../finding.js';
import { isBefore, versionIn, type SetUp } from '../set-up.js';

const NO_TYPES = 'The build emits no types of parameters';

/** The flags of `tsconfig.json`, with those that it extends, and what swc and other compilers do beside them. */
export const compiler: Check = setUp => [...flagsOf(setUp), ...swc(setUp), ...esbuild(setUp)];

function flagsOf(setUp: SetUp): Finding[] {
  const path = configPathOf(setUp);
  const ts = typescriptOf(setUp);
  if (path === undefined || ts === undefined) return [];
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const parsed = ts.getParsedCommandLineOfConfigFile(join(setUp.cwd, path), {}, host);
  if (!parsed) return [];
  const { options } = parsed;
  const mistake = mistakeIn(ts, parsed);
  if (mistake)
    return [
      {
        heading: 'TypeScript cannot read its configuration',
        seen: `${placeOf(setUp, path, mistake)}: ${ts.flattenDiagnosticMessageText(mistake.messageText, ' ')}`,
        remedy: 'Correct the file, and check it with npx tsc --showConfig',
      },
    ];
  const findings: Finding[] = [];
  if (!options.experimentalDecorators)
    findings.push({
      heading: 'Decorators are switched off',
      seen: `${path} does not set "experimentalDecorators"`,
      remedy: 'Set "experimentalDecorators": true',
    });
  if (!options.emitDecoratorMetadata && builderOf(setUp) !== 'swc')
    findings.push({
      heading: NO_TYPES,
      seen: `${path} does not set "emitDecoratorMetadata"`,
      remedy: 'Set "emitDecoratorMetadata": true',
    });
  const resolution = unfit(ts, options, setUp);
  if (resolution !== undefined)
    findings.push({
      heading: 'TypeScript cannot import the packages',
      seen: `${path} has ${resolution}`,
      remedy: 'Set "module": "nodenext" and "moduleResolution": "nodenext"',
    });
  return findings;
}

/** What the compiler cannot read. A configuration without source files is readable. */
const mistakeIn = (ts: typeof Typescript, parsed: Typescript.ParsedCommandLine) =>
  ts.getConfigFileParsingDiagnostics(parsed).find(({ code }) => !NO_SOURCES.includes(code));

const NO_SOURCES = [18002, 18003];

/** The line of a mistake, in the file itself or in one that it extends. */
function placeOf(setUp: SetUp, path: string, { file, start }: Typescript.Diagnostic): string {
  if (!file) return path;
  const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
  return `line ${line + 1} of ${setUp.shortened(file.fileName)}`;
}

/** A module resolution without packages, or one that refuses ES modules in CommonJS. */
function unfit(
  ts: typeof Typescript,
  { module, moduleResolution }: Typescript.CompilerOptions,
  setUp: SetUp,
): string | undefined {
  if (moduleResolution === ts.ModuleResolutionKind.Classic) return '"moduleResolution": "classic"';
  const isOld = module === ts.ModuleKind.Node16 || module === ts.ModuleKind.Node18;
  const nest = setUp.installed('@nestjs/common');
  const isEsm = nest !== undefined && !isBefore(versionIn(nest.version), 12, 0);
  if (isOld && isEsm && setUp.manifest.type !== 'module')
    return `"module": "${ts.ModuleKind[module].toLowerCase()}", which refuses the ES modules of Nest 12`;
  return undefined;
}

function swc(setUp: SetUp): Finding[] {
  const text = setUp.textOf('.swcrc');
  if (text === undefined || builderOf(setUp) !== 'swc') return [];
  if (/"decoratorMetadata"\s*:\s*true/.test(text)) return [];
  const remedy = 'Set "jsc.transform.decoratorMetadata": true';
  return [{ heading: NO_TYPES, seen: '.swcrc does not set "decoratorMetadata"', remedy }];
}

function esbuild({ manifest: { scripts = {} } }: SetUp): Finding[] {
  const found = Object.entries(scripts).find(
    ([name, script]) => /^(start|build|dev)/.test(name) && /(^|[\s/])(tsx|esbuild)\s/.test(script),
  );
  if (!found) return [];
  const seen = `the script "${found[0]}" is "${found[1]}"`;
  return [{ heading: NO_TYPES, seen, remedy: 'Compile with tsc or swc: tsx and esbuild ignore the flag' }];
}

/** The file that `nest build` reads. */
function configPathOf({ cwd, nestCli }: SetUp): string | undefined {
  const { tsConfigPath } = nestCli.compilerOptions ?? {};
  return [tsConfigPath, 'tsconfig.build.json', 'tsconfig.json'].find(
    path => path !== undefined && isFile(join(cwd, path)),
  );
}

function builderOf({ nestCli }: SetUp): unknown {
  const builder = nestCli.compilerOptions?.builder;
  return typeof builder === 'object' && builder !== null && 'type' in builder ? builder.type : builder;
}

/** The TypeScript of the application, if it has the API for configurations. */
function typescriptOf(setUp: SetUp): typeof Typescript | undefined {
  if (!setUp.installed('typescript')) return undefined;
  const ts = setUp.load('typescript') as Partial<typeof Typescript>;
  return typeof ts.getParsedCommandLineOfConfigFile === 'function' ? (ts as typeof Typescript) : undefined;
}
