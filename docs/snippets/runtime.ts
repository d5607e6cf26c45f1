import { Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
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

@Module({ providers: [Reports, ReportBuilder] })
class ReportsModule {}

// #region lazy
@Injectable()
export class Switch {
  constructor(private readonly loader: LazyModuleLoader) {}

  async on() {
    const module = await this.loader.load(() => ReportsModule);
    await module.get(Reports).offer();
  }
}
// #endregion lazy
