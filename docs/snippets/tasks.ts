import { Injectable, Logger } from '@nestjs/common';
import { InjectMcpClient, McpClient } from 'nestjs-mcp/client';

@Injectable()
export class YearlyReports {
  private readonly logger = new Logger(YearlyReports.name);

  constructor(
    @InjectMcpClient('reports') private readonly reports: McpClient,
  ) {}

  // #region handle
  async report(year: number) {
    const report = await this.reports.startTool({
      name: 'report',
      arguments: { year },
    });
    report.updates.subscribe(({ status, statusMessage }) =>
      this.logger.log(`${status}: ${statusMessage}`),
    );
    return report.result();
  }
  // #endregion handle
}
