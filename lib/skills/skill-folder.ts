import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { SkillCatalogError, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import type {
  DirectoryResource,
  Skill,
  SkillResourceEntry,
  SkillWarning,
} from '@modelcontextprotocol/server/ext/skills';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpContext } from '../execution/mcp-context.js';
import { childrenOf } from './directory.js';
import { FolderFiles } from './folder-files.js';
import { pathOf, uriOf } from './resources.js';
import type { SkillSettings } from './skill-options.js';
import { skillsAround, type WholeSource } from './skill-source.js';

interface KnownFile {
  readonly entry: SkillResourceEntry;
  readonly skills: Skill[];
}

/** What one scan of the folder has found. */
interface Scan {
  readonly files: FolderFiles;
  /** By the URI of their `SKILL.md`. */
  readonly skills: ReadonlyMap<string, Skill>;
  readonly known: ReadonlyMap<string, KnownFile>;
  readonly folders: readonly string[];
}

/** The skills of a folder. They are scanned at the start, and again after a change. */
export class SkillFolder implements WholeSource {
  private readonly logger = new Logger('McpSkills');
  private scan!: Scan;
  /** Of the latest scan, also of one that failed. */
  private stamp?: string;
  private latest: Promise<unknown> = Promise.resolve();

  /** @param onChange called when a change has been noticed and the folder scanned again */
  constructor(
    private readonly dir: string,
    private readonly options: Pick<SkillSettings, 'prefix' | 'strict' | 'visible'>,
    private readonly onChange: () => void,
  ) {}

  get uris(): readonly string[] {
    return [...this.scan.skills.keys()];
  }

  /** Scans the folder. @throws McpBootstrapError that names files and reasons; the earlier skills stay then */
  load(): Promise<void> {
    const loaded = this.latest.then(() => this.loadNow());
    this.latest = loaded.catch(() => undefined);
    return loaded;
  }

  async list(ctx: McpContext): Promise<readonly Skill[]> {
    await this.notice();
    const skills = [...this.scan.skills.values()];
    const shown = await Promise.all(skills.map(skill => this.shows(skill, ctx)));
    return skills.filter((_, index) => shown[index]);
  }

  async get(uri: string, ctx: McpContext): Promise<Skill | undefined> {
    await this.notice();
    return this.find(uri, ctx);
  }

  async read(uri: string, ctx: McpContext): Promise<Uint8Array | undefined> {
    await this.notice();
    const { scan } = this;
    const read = await this.readKnown(uri, ctx);
    if (!read?.isChanged) return read?.bytes;
    await this.renew(scan);
    const again = await this.readKnown(uri, ctx);
    if (again?.isChanged) throw new Error(`"${uri}" changes while it is read`);
    return again?.bytes;
  }

  async readDirectory(uri: string, ctx: McpContext): Promise<readonly DirectoryResource[] | undefined> {
    await this.notice();
    for await (const skill of skillsAround(uri, one => this.find(one, ctx))) {
      const children = childrenOf(skill, uri, this.scan.folders);
      if (children) return children;
    }
    return undefined;
  }

  private async find(uri: string, ctx: McpContext): Promise<Skill | undefined> {
    const skill = this.scan.skills.get(uri);
    return skill && (await this.shows(skill, ctx)) ? skill : undefined;
  }

  private async shows(skill: Skill, ctx: McpContext): Promise<boolean> {
    return this.options.visible?.(skill, ctx) ?? true;
  }

  /** @returns undefined for a file that the caller does not find */
  private async readKnown(
    uri: string,
    ctx: McpContext,
  ): Promise<{ readonly bytes: Uint8Array; readonly isChanged: boolean } | undefined> {
    const { files, known } = this.scan;
    const { entry, skills } = known.get(uri) ?? NONE;
    const shown = await Promise.all(skills.map(skill => this.shows(skill, ctx)));
    if (!entry || !shown.includes(true)) return undefined;
    const bytes = await files.read(pathOf(uri).slice(this.start.length)).catch(() => GONE);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    return { bytes, isChanged: bytes === GONE || digest !== entry.digest };
  }

  /** In development, scans the folder again if something has changed. A mistake is logged, and the earlier skills stay. */
  private async notice(): Promise<void> {
    if (process.env['NODE_ENV'] === 'production') return;
    const files = await this.open();
    await files.walk();
    if (files.stamp === this.stamp) return;
    await this.renew(this.scan).catch((error: unknown) => this.logger.warn((error as Error).message));
  }

  /** Scans the folder again, unless that has happened since a scan. */
  private renew(since: Scan): Promise<void> {
    const renewed = this.latest.then(async () => {
      if (this.scan !== since) return;
      await this.loadNow();
      this.onChange();
    });
    this.latest = renewed.catch(() => undefined);
    return renewed;
  }

  private async loadNow(): Promise<void> {
    const files = await this.open();
    try {
      this.scan = this.scanOf(files, await this.entriesOf(files));
    } finally {
      this.stamp = files.stamp;
    }
  }

  private async open(): Promise<FolderFiles> {
    try {
      return new FolderFiles(await realpath(this.dir));
    } catch (error) {
      throw this.mistake(`the folder cannot be read: ${(error as Error).message}`);
    }
  }

  /** @throws McpBootstrapError that names files and reasons */
  private async entriesOf(files: FolderFiles): Promise<readonly Skill[]> {
    const { prefix, strict } = this.options;
    const sentenceOf = ({ path, message }: SkillWarning) => {
      const refused = files.refused.get(path);
      return `${join(this.dir, path)}: ${refused === undefined ? inOurWords(message) : `${path} is not served: ${refused}`}`;
    };
    try {
      const catalog = await SkillsExtension.load(files, {
        prefix,
        strict,
        onWarning: warning => this.logger.warn(sentenceOf(warning)),
      });
      return catalog.entries;
    } catch (error) {
      if (!SkillCatalogError.isInstance(error)) throw error;
      throw this.mistake(error.problems.map(sentenceOf).join('\n'));
    }
  }

  private scanOf(files: FolderFiles, entries: readonly Skill[]): Scan {
    const known = new Map<string, KnownFile>();
    for (const skill of entries) {
      for (const entry of skill.resources as SkillResourceEntry[]) {
        const file = known.get(entry.uri) ?? { entry, skills: [] };
        file.skills.push(skill);
        known.set(entry.uri, file);
      }
    }
    const folders = [...files.folders.keys()].map(path => uriOf(this.start + path));
    return { files, known, folders, skills: new Map(entries.map(skill => [skill.uri, skill])) };
  }

  /** What stands before the paths of the folder. */
  private get start(): string {
    const { prefix } = this.options;
    return prefix === undefined ? '' : `${prefix}/`;
  }

  private mistake(problem: string): McpBootstrapError {
    return new McpBootstrapError(`McpSkillsModule.forRoot({ dir: ${JSON.stringify(this.dir)} })`, problem);
  }
}

const NONE = { entry: undefined, skills: [] };

/** What is read of a file that is no longer there. */
const GONE = new Uint8Array();

/** The SDK's reason, without what becomes of the skill and without the names of its own functions and options. */
const inOurWords = (message: string): string =>
  message
    .replace(/ \((skill )?skipped\)$/, '')
    .replace('point loadSkills (or your adapter) at its parent folder', 'point "dir" at the parent folder')
    .replace(/; some hosts may decline it\..*/, '; some hosts refuse it');
