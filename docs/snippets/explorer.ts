// The explorer, on a developer's machine and behind a guard.
import {
  Injectable,
  Module,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
// #region imports
import { McpModule } from 'nestjs-mcp';
import { McpExplorerModule } from 'nestjs-mcp/explorer';
// #endregion imports
import { CatalogTools } from './start/catalog.tools.js';

// #region module
@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpExplorerModule.forRoot(),
  ],
  providers: [CatalogTools],
})
export class AppModule {}
// #endregion module

// #region guarded
@Injectable()
export class OperatorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { user } = context
      .switchToHttp()
      .getRequest<Request & { user?: { isOperator: boolean } }>();
    return user?.isOperator === true;
  }
}

export const explorer = McpExplorerModule.forRoot({
  path: '/ops/mcp',
  guards: [OperatorGuard],
});
// #endregion guarded
