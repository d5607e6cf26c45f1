import type { Project, SourceFile } from 'ts-morph';
import type { FileJob } from './file-job.js';

/** The decorator of the peers reads the roles of `request.user`. The application keeps it, as a file of its own. */
const SOURCE = `import {
  applyDecorators,
  CanActivate,
  ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Visible } from 'nestjs-mcp';

const ROLES = 'tool-roles';

/** Lets callers pass whose \`request.user\` has all roles, or any of them. */
@Injectable()
export class ToolRolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const { roles, match } = this.reflector.get(ROLES, context.getHandler());
    const user = context.switchToHttp().getRequest()?.user;
    const own: string[] = user?.roles ?? user?.user_data?.roles ?? [];
    const has = (role: string) => own.includes(role);
    return match === 'any' ? roles.some(has) : roles.every(has);
  }
}

/** Hides a tool from callers without these roles, and refuses their calls. */
export const ToolRoles = (
  roles: string[],
  { match = 'all' }: { match?: 'all' | 'any' } = {},
) =>
  applyDecorators(
    SetMetadata(ROLES, { roles, match }),
    UseGuards(ToolRolesGuard),
    Visible(ToolRolesGuard),
  );
`;

/** Has \`@ToolRoles()\` imported from a file of the application, which is written once. */
export function keepToolRoles(jobs: readonly FileJob[], project: Project): SourceFile | undefined {
  const users = jobs.filter(job => job.imports('ToolRoles') && job.isUsed('ToolRoles'));
  const [first] = users;
  if (!first) return undefined;
  const path = `${first.file.getDirectoryPath()}/tool-roles.ts`;
  const file = project.getSourceFile(path) ?? project.createSourceFile(path, SOURCE);
  for (const job of users) {
    for (const { specifier } of job.specifiers()) if (specifier.getName() === 'ToolRoles') specifier.remove();
    job.file.addImportDeclaration({
      namedImports: ['ToolRoles'],
      moduleSpecifier: job.file.getRelativePathAsModuleSpecifierTo(file),
    });
    job.changed();
  }
  return file;
}
