import { ForbiddenException, Injectable, Module } from '@nestjs/common';
// #region imports
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

class SecretScanner {
  isClean(value: unknown) {
    return !JSON.stringify(value ?? '').includes('secret');
  }
}

class Redactor {
  apply(payload: object): object | undefined {
    return payload;
  }
}

class Journal {
  write(...entry: unknown[]) {
    return entry;
  }
}

// #region write
@Injectable()
export class Guardrails {
  constructor(
    private readonly scanner: SecretScanner,
    private readonly redactor: Redactor,
    private readonly journal: Journal,
  ) {}

  @Validator({ events: ['tools/call'], timeoutMs: 200, final: true })
  noSecrets({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return (
      this.scanner.isClean(payload.arguments) ||
      deny('A secret was found', { path: 'arguments' })
    );
  }

  @Mutator({
    events: ['tools/call'],
    phase: 'both',
    priority: { request: -1000, response: 1000 },
  })
  redact({ payload }: InterceptorInvocation) {
    // A new payload, or undefined to leave it alone.
    return this.redactor.apply(payload as object);
  }

  @Sink({ events: ['*'], phase: 'both' })
  record({ event, phase, report }: InterceptorInvocation) {
    this.journal.write(event, phase, report);
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
