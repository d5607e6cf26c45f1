import { Controller, Module, Post } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpSkills, McpSkillsModule } from 'nestjs-mcp/skills';
import { createTestClient } from 'nestjs-mcp/testing';
import type { INestApplication } from '@nestjs/common';

// #region visible
@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpSkillsModule.forRoot({
      dir: 'skills',
      prefix: 'acme',
      visible: ({ frontmatter }, { authInfo }) =>
        frontmatter.name !== 'payroll' ||
        (authInfo?.scopes.includes('payroll') ?? false),
    }),
  ],
})
export class ShopModule {}
// #endregion visible

// #region reload
@Controller('deploy')
export class DeployController {
  constructor(private readonly skills: McpSkills) {}

  @Post('skills')
  reload() {
    return this.skills.reload();
  }
}
// #endregion reload

export async function testing(app: INestApplication) {
  // #region testing
  const client = await createTestClient(app);
  const [refunds] = (await client.skills.list()).skills;
  const limits = await client.skills.read(refunds, 'references/limits.md');
  // limits.verified says that size and digest are those of the entry
  // #endregion testing
  return limits;
}
