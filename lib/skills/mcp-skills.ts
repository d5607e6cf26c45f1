import { Injectable } from '@nestjs/common';
import type { SkillFolder } from './skill-folder.js';
import type { SkillsExtension } from './skills-extension.js';

/**
 * Reads the skills again after a change. `McpSkillsModule` exports it.
 * @example
 * ```ts
 * @Controller('deploy')
 * export class DeployController {
 *   constructor(private readonly skills: McpSkills) {}
 *
 *   @Post('skills')
 *   reload() {
 *     return this.skills.reload();
 *   }
 * }
 * ```
 */
@Injectable()
export class McpSkills {
  /** @internal */
  readonly folders: SkillFolder[] = [];
  private readonly extensions: SkillsExtension[] = [];

  /** @internal */
  add(extension: SkillsExtension): SkillsExtension {
    this.extensions.push(extension);
    return extension;
  }

  /** @internal Notifies all clients. */
  readonly publish = (): void => {
    for (const extension of this.extensions) extension.publish();
  };

  /**
   * Reads the folders of this node again, and notifies the clients of all nodes with `resources/list_changed`. Call it, too,
   * if a `SkillSource` has other skills than before.
   * @throws McpBootstrapError, with `strict`, that names files and reasons. The earlier skills stay
   */
  async reload(): Promise<void> {
    try {
      await Promise.all(this.folders.map(folder => folder.load()));
    } finally {
      this.publish();
    }
  }
}
