import { ForbiddenException, Injectable, Module } from '@nestjs/common';
// #region imports
import { Logger } from '@nestjs/common';
import type { CallToolResult } from '@modelcontextprotocol/server';
import {
  deny,
  Mutator,
  Sink,
  Validator,
  type InterceptorInvocation,
} from 'nestjs-mcp';
// #endregion imports
import { InterceptorChainRunner, type McpInterceptorOptions } from 'nestjs-mcp';
import {
  InterceptingMcpClient,
  type InterceptableClient,
} from 'nestjs-mcp/client';
import {
  InterceptorChain,
  type InterceptorClient,
  type InterceptorHost,
} from 'nestjs-mcp/interceptors';
// #region ready-made-imports
import { McpModule } from 'nestjs-mcp';
import { RateLimit, SecretRedactor, SizeLimit } from 'nestjs-mcp/interceptors';
// #endregion ready-made-imports

// #region write
@Injectable()
export class Guardrails {
  private readonly logger = new Logger('Orders');

  @Validator({ events: ['tools/call'], when: { name: 'placeOrder' } })
  smallOrders({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return (
      Number(payload.arguments?.['quantity'] ?? 1) <= 10 ||
      deny('At most 10 at a time', { path: 'arguments.quantity' })
    );
  }

  @Mutator({ events: ['tools/call'], phase: 'response' })
  redact({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    const masked = JSON.stringify(payload).replace(/\b\d{16}\b/g, '****');
    return JSON.parse(masked) as CallToolResult; // undefined changes nothing
  }

  @Sink({ events: ['*'], phase: 'both' })
  record({ event, phase, report }: InterceptorInvocation) {
    this.logger.log(`${event} ${phase}: ${report?.status}`);
  }
}
// #endregion write

export const policyModule =
  // #region policy
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    interceptors: {
      overrides: {
        redact: { mode: 'audit' },
        'style/trim': { failOpen: true },
      },
      config: { shortQueries: { maxLength: 20 } },
      policyFile: 'policy.yaml', // wins over the two above, field by field
    },
  });
// #endregion policy

export class Limits {
  // #region when
  @Validator({
    events: ['tools/call'],
    when: {
      name: 'pay_*',
      principal: { type: 'user', id: ['ada'] },
      protocol: { min: '2025-06-18' },
    },
  })
  limits({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return (
      Number(payload.arguments?.['amount']) <= 100 ||
      deny('Too much', { path: 'arguments.amount' })
    );
  }
  // #endregion when
}

// #region ready-made
@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [
    // First on requests, last on results.
    SecretRedactor({ priority: { request: -1000, response: 1000 } }),
    SizeLimit({ maxBytes: 100_000 }),
    RateLimit({ points: 60, duration: 60 }),
  ],
})
export class AppModule {}
// #endregion ready-made

export const remote =
  // #region remote
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    interceptors: {
      servers: [
        {
          name: 'privacy',
          url: 'https://privacy.internal/mcp',
          send: { payload: ['/arguments/query', '/content'] },
        },
        { name: 'style', command: 'node', args: ['style.js'] },
      ],
    },
  });
// #endregion remote

const tenantOf = (...from: unknown[]) => String(from.length);

// #region by-caller
export const interceptors: McpInterceptorOptions = {
  resolveServers: ({ context, headers }) => [
    {
      name: 'rules',
      url: 'https://rules.internal/mcp',
      connectionId: tenantOf(context, headers),
    },
  ],
};
// #endregion by-caller

export const exposed =
  // #region expose
  McpModule.forRoot({
    name: 'privacy',
    version: '1.0.0',
    interceptors: { expose: true, apply: false }, // `apply: false`: only for others
  });
// #endregion expose

class Model {
  complete(payload: unknown) {
    return { payload };
  }
}

// #region runner
@Injectable()
export class Assistant {
  constructor(
    private readonly model: Model,
    private readonly chain: InterceptorChainRunner,
  ) {}

  async ask(question: string) {
    // Mutated, then validated.
    const asked = await this.chain.run('llm/completion', 'request', {
      question,
    });
    if (asked.status !== 'success')
      throw new ForbiddenException(asked.abortedAt?.reason);
    const answer = this.model.complete(asked.finalPayload);
    return this.chain.run('llm/completion', 'response', answer, {
      direction: 'receive',
    });
  }
}
// #endregion runner

export async function discover(client: InterceptorClient) {
  // #region discover
  const hosts = [{ name: 'privacy', client }]; // or an invoker
  const chain = await InterceptorChain.discover(hosts); // lists every host
  const result = await chain.execute({
    event: 'llm/completion',
    phase: 'request',
    direction: 'send',
    payload: { question: 'Why?' },
  });
  chain.close();
  // #endregion discover
  return result;
}

export async function guard(
  client: InterceptableClient,
  hosts: readonly InterceptorHost[],
) {
  // #region intercepting-client
  const chain = await InterceptorChain.discover(hosts);
  const guarded = new InterceptingMcpClient(client, { chain });
  await guarded.callTool({ name: 'pay', arguments: { id: '7' } });
  // #endregion intercepting-client
}
