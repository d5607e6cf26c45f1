import { BadRequestException, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { McpExecutionContext } from 'nestjs-mcp';

/** The region that this application has the data of. */
export const REGION = process.env.REGION ?? 'eu';

/** Refuses what was routed to the wrong application, before anybody looks at the other arguments. */
@Injectable()
export class RegionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const region = McpExecutionContext.create(context).getContext().headerParam('Region');
    if (region !== undefined && region !== REGION) throw new BadRequestException(`This is ${REGION}`);
    return true;
  }
}
