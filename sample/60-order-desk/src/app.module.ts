import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { McpModule } from 'nestjs-mcp';
import { McpAppsModule } from 'nestjs-mcp/apps';
import { McpExplorerModule } from 'nestjs-mcp/explorer';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { AuthModule } from './auth/auth.module.js';
import { CatalogueModule } from './catalogue/catalogue.module.js';
import { Guardrails, OrderLimit } from './guardrails/guardrails.js';
import { HealthModule } from './health/health.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { ReportsModule } from './reports/reports.module.js';
import { settings } from './settings.js';

const { databaseUrl, redisUrl, secret, allowedHosts, isProduction } = settings;

// A real application has migrations instead of `synchronize`.
const database: TypeOrmModuleOptions = {
  ...(databaseUrl ? { type: 'postgres', url: databaseUrl } : { type: 'sqljs' }),
  autoLoadEntities: true,
  synchronize: true,
};

@Module({
  imports: [
    TypeOrmModule.forRoot(database),
    McpModule.forRoot({
      name: 'order-desk',
      version: '1.0.0',
      http: { allowedHosts },
      mrtr: { secret },
      interceptors: { policyFile: join(__dirname, 'guardrails/policy.yaml') },
      drainMs: isProduction ? 2000 : 0,
    }),
    McpTasksModule.forRoot({ pollIntervalMs: 200 }),
    McpAppsModule.forRoot(),
    ...(redisUrl ? [McpRedisModule.forRoot({ url: redisUrl, prefix: 'order-desk:' })] : []),
    ...(isProduction ? [] : [McpExplorerModule.forRoot()]),
    AuthModule,
    CatalogueModule,
    OrdersModule,
    ReportsModule,
    HealthModule,
  ],
  providers: [Guardrails, OrderLimit],
})
export class AppModule {}
