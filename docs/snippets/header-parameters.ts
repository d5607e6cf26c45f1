import {
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { IsString } from 'class-validator';
import {
  Args,
  HeaderParam,
  McpExecutionContext,
  McpHeader,
  mcpHeader,
  Tool,
} from 'nestjs-mcp';
import { InjectMcpClient, McpClient, McpClientModule } from 'nestjs-mcp/client';
import { z } from 'zod';

class Databases {
  of(region: string) {
    return { ask: (query: unknown) => ({ region, query }) };
  }
}

// #region declare
export class QueryDto {
  @McpHeader('Region') // clients send it as Mcp-Param-Region, too
  @IsString()
  region!: string;
}

@Injectable()
export class QueryTools {
  constructor(private readonly databases: Databases) {}

  @Tool({ description: 'Query a database' })
  query(@Args() query: QueryDto, @HeaderParam('Region') region: string) {
    return this.databases.of(region).ask(query);
  }
}
// #endregion declare

// #region guard
@Injectable()
export class RegionGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const call = McpExecutionContext.create(context).getContext();
    return call.headerParam('Region') === 'eu';
  }
}
// #endregion guard

export const module =
  // #region known
  // A saved tools/list, or a list of tools.
  McpClientModule.register([
    {
      name: 'database',
      url: 'https://database.internal/mcp',
      knownTools: 'tools.json',
    },
  ]);
// #endregion known

@Injectable()
export class Reports {
  constructor(
    @InjectMcpClient('database') private readonly client: McpClient,
  ) {}

  report() {
    // #region send
    this.client.addKnownTools([
      {
        name: 'query',
        inputSchema: z.object({
          region: z.string().meta(mcpHeader('Region')),
        }),
      },
    ]);
    return this.client.callTool({ name: 'query', arguments: { region: 'eu' } });
    // #endregion send
  }
}
