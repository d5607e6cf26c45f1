import { IsIn, IsString } from 'class-validator';
import { Description, McpHeader } from 'nestjs-mcp';

export class QueryDto {
  /** Clients repeat it in the header `Mcp-Param-Region`, which everybody on the way can read. */
  @McpHeader('Region')
  @IsIn(['eu', 'us'])
  @Description('Where the data is')
  region!: string;

  @IsString()
  @Description('What to ask the database')
  sql!: string;
}
