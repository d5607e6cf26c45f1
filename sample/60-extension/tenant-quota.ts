import { McpErrorCode, McpException, McpExtension, type Stages } from 'nestjs-mcp';

/** Calls of tools for each tenant. In 2026-07-28, each round of a call that asks its user counts. */
const QUOTA = 3;

/** A quota for each tenant. List the class in the providers of a module: that is all. */
@McpExtension()
export class TenantQuota {
  private readonly used = new Map<string, number>();

  /** Called once for each method and revision, when the server is built. */
  stages(method: string): Stages | undefined {
    if (method !== 'tools/call') return undefined;
    return {
      admit: next => (call, params) => {
        const tenant = String(call.http?.headers['x-tenant'] ?? 'none');
        const used = this.used.get(tenant) ?? 0;
        if (used === QUOTA) throw new McpException(McpErrorCode.Refused, `The quota of ${tenant} is used up`);
        this.used.set(tenant, used + 1);
        return next(call, params);
      },
    };
  }
}
