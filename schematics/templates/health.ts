import type { Template } from '../template.js';

export const HEALTH: Template = {
  type: 'controller',
  metadata: 'controllers',
  modules: [
    { metadata: 'imports', symbol: 'TerminusModule', from: '@nestjs/terminus' },
    {
      metadata: 'imports',
      symbol: 'McpTelemetryModule',
      from: 'nestjs-mcp/telemetry',
      expression: 'McpTelemetryModule.forRoot()',
    },
  ],
  packages: ['@nestjs/terminus', '@opentelemetry/api'],
  source: ({ className, file }) => `import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';
import { McpHealthIndicator } from 'nestjs-mcp/telemetry';

@Controller('${file}')
export class ${className} {
  constructor(
    private readonly health: HealthCheckService,
    private readonly mcp: McpHealthIndicator,
  ) {}

  // Terminus would answer 503 while the application shuts down.
  @Get('live')
  live() {
    return this.mcp.liveness();
  }

  // With Redis and a load balancer, call readiness('mcp', { dependencies: false }):
  // otherwise an outage of Redis takes out all nodes at once.
  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.mcp.readiness()]);
  }
}
`,
  spec: ({ className, file, specifier }) => `import type { INestApplication } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { McpModule } from 'nestjs-mcp';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { ${className} } from '${specifier}';

describe('${className}', () => {
  let app: INestApplication;

  beforeEach(async () => {
    const testing = await Test.createTestingModule({
      imports: [
        McpModule.forRoot({ name: 'test', version: '1.0.0' }),
        McpTelemetryModule.forRoot(),
        TerminusModule,
      ],
      controllers: [${className}],
    }).compile();
    app = testing.createNestApplication();
    await app.listen(0, '127.0.0.1');
  });

  afterEach(() => app.close());

  it.each(['live', 'ready'])('is %s while the server runs', async (path) => {
    const response = await fetch(\`\${await app.getUrl()}/${file}/\${path}\`);
    expect(response.status).toBe(200);
  });
});
`,
};
