import { Injectable } from '@nestjs/common';
import {
  Args,
  Ask,
  Ctx,
  inputRequest,
  InputRequiredException,
  McpContext,
  McpModule,
  Tool,
} from 'nestjs-mcp';
import { DeployDto, Deployments, Planner, Region } from './shop.js';

// #region ask
@Injectable()
export class DeployTools {
  constructor(
    private readonly deployments: Deployments,
    private readonly planner: Planner,
  ) {}

  @Tool({ description: 'Deploy a service' })
  deploy(
    @Args() { service }: DeployDto,
    @Ask('region', {
      message: ({ service }: DeployDto) => `Where does ${service} run?`,
    })
    region: Region,
  ) {
    return this.deployments.start(service, region.name);
  }
  // #endregion ask

  // #region elicit
  @Tool({ description: 'Plan a deployment, then deploy' })
  async planned(@Args() { service }: DeployDto, @Ctx() ctx: McpContext) {
    // Runs once: later rounds get the remembered plan.
    const plan = await ctx.step('plan', () => this.planner.plan(service));
    const region = await ctx.elicit('region', {
      message: `${plan.cost} a month. Where?`,
      schema: Region,
    });
    // The other actions are 'decline' and 'cancel'.
    if (region.action !== 'accept') return 'Not deployed';
    return this.deployments.start(service, region.content.name);
  }
  // #endregion elicit

  // #region all
  @Tool()
  async release(@Args() { service }: DeployDto, @Ctx() ctx: McpContext) {
    const { region, notes } = await ctx.askAll({
      region: inputRequest.elicit({ message: 'Where?', schema: Region }),
      notes: inputRequest.sample({
        messages: [
          {
            role: 'user',
            content: { type: 'text', text: `Release notes of ${service}` },
          },
        ],
        maxTokens: 200,
      }),
    });
    return { region, notes };
  }
  // #endregion all

  @Tool()
  async rounds(@Args() { service }: DeployDto, @Ctx() ctx: McpContext) {
    // #region rounds
    const region = await ctx.accepted('region', Region); // validated, or undefined
    if (!region) {
      throw new InputRequiredException({
        inputRequests: {
          region: inputRequest.elicit({ message: 'Where?', schema: Region }),
        },
        requestState: { seen: 1 }, // comes back as ctx.requestState()
      });
    }
    // #endregion rounds
    return this.deployments.start(service, region.name);
  }
}

export const secretModule =
  // #region secret
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    mrtr: { secret: process.env.MCP_SECRET, encrypt: true },
  });
// #endregion secret
