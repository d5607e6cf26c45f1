import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { AccountNotFoundFilter } from './account-not-found.filter.js';
import { AccountsController, Accounts, AccountTools, CurrentUser, StatusTools } from './accounts.js';
import { AuthGuard, Public } from './auth.guard.js';
import { LoggingInterceptor } from './logging.interceptor.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'bank', version: '1.0.0' }),
    McpModule.forRoot({
      name: 'status',
      version: '1.0.0',
      http: { path: '/status/mcp', decorators: [Public()] },
    }),
  ],
  controllers: [AccountsController],
  providers: [
    Accounts,
    AccountTools,
    CurrentUser,
    StatusTools,
    { provide: APP_GUARD, useClass: AuthGuard },
    { provide: APP_INTERCEPTOR, useClass: LoggingInterceptor },
    { provide: APP_FILTER, useClass: AccountNotFoundFilter },
  ],
})
export class AppModule {}
