import { Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';

@Injectable()
class LogsIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ user?: object }>().user = { id: 'ada' };
    return true;
  }
}

@Injectable()
class Shop {
  @UseGuards(LogsIn)
  @Tool()
  open() {
    return 'open';
  }
}

@Injectable()
class Observer {
  readonly seen: unknown[] = [];

  @Validator({ events: ['tools/call'], phase: 'response' })
  observe({ context }: InterceptorInvocation) {
    this.seen.push(context?.principal);
    return true;
  }
}

@Injectable()
class Unrelated {
  @Validator({ events: ['tools/call'] })
  check() {
    return true;
  }
}

it.each([
  ['alone', []],
  ['beside one of the request phase', [Unrelated]],
])(
  'an interceptor of the response phase is told of the caller as the request came: %s',
  async (_, others) => {
    const app = await startApp([LogsIn, Shop, Observer, ...others]);
    const client = await app.client();
    await client.callTool({ name: 'open' });
    expect(app.app.get(Observer).seen).toEqual([{ type: 'anonymous' }]);
    await app.close();
  },
);
