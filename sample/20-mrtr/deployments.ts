import { Injectable } from '@nestjs/common';
import { Args, Ask, Ctx, McpContext, Tool } from 'nestjs-mcp';
import { Pipeline } from './pipeline.js';
import { Confirmation, Target } from './questions.js';

@Injectable()
export class Deployments {
  constructor(private readonly pipeline: Pipeline) {}

  /** Asks one thing after the other, where a question depends on what came before. */
  @Tool({ description: 'Builds a service and deploys it, as the user says' })
  async deploy(@Args('service') service: string, @Ctx() ctx: McpContext) {
    this.pipeline.say('deploy, from the top');
    // A step runs once, however often the handler does.
    const { build } = await ctx.step('build', () => this.pipeline.build(service));
    const message = `Deploy build ${build} of ${service}?`;
    const confirm = await ctx.elicit('confirm', { message, schema: Confirmation });
    if (!confirm.content?.isSure) return `${service} stays as it is`;

    const target = await ctx.elicit('region', { message: 'Where is it to run?', schema: Target });
    if (target.action !== 'accept') return `${service} stays as it is`;

    const { region } = target.content;
    const { host } = await ctx.step('roll-out', () =>
      this.pipeline.rollOut(`${service} ${build}`, region, ctx.signal),
    );
    return `build ${build} of ${service} runs on ${host}`;
  }

  /** Everything is asked beforehand, in one round, and this runs once: the style to begin with. */
  @Tool({ description: 'Goes back to the build before, as the user says' })
  rollBack(
    @Args('service') service: string,
    @Ask('confirm', { message: ({ service }: { service: string }) => `Roll ${service} back?` })
    { isSure }: Confirmation,
    @Ask('region', { message: 'Where?' }) { region }: Target,
  ) {
    this.pipeline.say('rollBack, from the top');
    return isSure ? `${service} is rolled back in ${region}` : `${service} stays as it is`;
  }
}
