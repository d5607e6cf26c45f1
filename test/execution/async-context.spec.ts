import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Injectable,
  Module,
  UseGuards,
  UseInterceptors,
  type CanActivate,
  type MiddlewareConsumer,
  type NestModule,
} from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { Observable, of, tap } from 'rxjs';
import { cells, startApp, textOf } from '../fixtures/matrix.js';

interface Store {
  user: string;
  steps: string[];
}

const storage = new AsyncLocalStorage<Store>();
const note = (step: string) => storage.getStore()?.steps.push(step);

const noting: CanActivate = {
  canActivate() {
    note('guard');
    return true;
  },
};

@Injectable()
class Tools {
  @Tool()
  async whoami() {
    await Promise.resolve();
    return of(storage.getStore()?.user);
  }

  @Tool()
  @UseGuards(noting)
  @UseInterceptors({ intercept: (_context, next) => next.handle().pipe(tap(() => note('interceptor'))) })
  steps() {
    note('handler');
    return new Observable(subscriber => {
      note('observable');
      subscriber.next(storage.getStore()?.steps);
      subscriber.complete();
    });
  }
}

@Module({})
class StorageModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    const remember = (request: { headers: Record<string, string> }, _response: unknown, next: () => void) =>
      storage.run({ user: request.headers['x-user'], steps: [] }, next);
    consumer.apply(remember).forRoutes('*path');
  }
}

describe.each(cells())('what middleware stores for a request, over $name,', ({ platform, era, legacy }) => {
  it('is there for the guards, interceptors and handlers of each call', async () => {
    const test = await startApp([Tools], { platform, mcp: { legacy }, module: { imports: [StorageModule] } });
    const clients = [];
    for (const user of ['ada', 'bob']) clients.push(await test.client({ era, headers: { 'x-user': user } }));
    const answers = await Promise.all(clients.map(client => client.callTool({ name: 'whoami' })));
    expect(answers.map(textOf)).toEqual(['ada', 'bob']);
    expect(textOf(await clients[0].callTool({ name: 'steps' }))).toBe(
      '["guard","handler","observable","interceptor"]',
    );
    await test.close();
  });
});
