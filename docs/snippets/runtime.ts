import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { McpServerRegistry, type McpContext } from 'nestjs-mcp';
import { RolesGuard } from './enhancers.js';

class ReportDto {
  @IsString()
  month!: string;
}

class ReportBuilder {
  build({ month }: ReportDto, signal: AbortSignal) {
    return signal.aborted ? '' : `Report of ${month}`;
  }
}

// #region runtime
@Injectable()
export class Reports {
  constructor(
    private readonly registry: McpServerRegistry,
    private readonly builder: ReportBuilder,
  ) {}

  async offer() {
    await this.registry.add(
      'tool',
      { name: 'report', inputSchema: ReportDto, guards: [RolesGuard] },
      (args: ReportDto, ctx: McpContext) =>
        this.builder.build(args, ctx.signal),
    );
  }

  withdraw() {
    this.registry.disable('tool', 'report');
    this.registry.resourceUpdated('config://app');
  }
}
// #endregion runtime
