import { Injectable, Logger, Module } from '@nestjs/common';
import { InjectMcpClient, McpClient, McpClientModule } from 'nestjs-mcp/client';

// #region handle
@Injectable()
export class YearlyReports {
  private readonly logger = new Logger(YearlyReports.name);

  constructor(
    @InjectMcpClient('reports') private readonly reports: McpClient,
  ) {}

  async report(year: number) {
    const report = await this.reports.startTool({
      name: 'report',
      arguments: { year },
    });
    report.updates.subscribe({
      next: ({ status, statusMessage }) =>
        this.logger.log(`${status}: ${statusMessage}`),
      error: () => undefined, // result() rejects with the same error
    });
    return report.result();
  }
}

@Module({
  imports: [
    McpClientModule.register([
      { name: 'reports', url: 'https://reports.internal/mcp' },
    ]),
  ],
  providers: [YearlyReports],
})
export class YearlyReportsModule {}
// #endregion handle
