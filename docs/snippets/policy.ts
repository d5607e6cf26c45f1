import { Injectable } from '@nestjs/common';
import { deny, Validator, type InterceptorInvocation } from 'nestjs-mcp';

// #region audit
@Injectable()
export class SecretRules {
  @Validator({ events: ['tools/call'], mode: 'audit' })
  noSecrets({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return (
      !JSON.stringify(payload.arguments ?? {}).includes('secret') ||
      deny('A secret was found', { path: 'arguments' })
    );
  }
}
// #endregion audit
