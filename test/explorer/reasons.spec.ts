import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Tool, Visible } from 'nestjs-mcp';
import { startExplored } from './explored-app.js';

interface Asking {
  readonly ip: string;
  readonly user?: { readonly roles: readonly string[] };
  get(name: string): string | undefined;
}

@Injectable()
class NearGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Asking>();
    const isNear = request.ip.endsWith('127.0.0.1') && request.get('X-Area') === undefined;
    return isNear && request.user?.roles.includes('clerk') === true;
  }
}

@Injectable()
class BrokenGuard implements CanActivate {
  canActivate(): boolean {
    throw new TypeError('canary-8d21e7 is not a function');
  }
}

@Injectable()
class Tools {
  @Tool({ description: 'For clerks nearby' })
  @Visible(NearGuard)
  near() {
    return 'near';
  }

  @Tool({ description: 'Behind a guard that fails' })
  @Visible(BrokenGuard)
  broken() {
    return 'broken';
  }
}

it('guards of @Visible read the request of a made-up caller, and a guard that fails is named', async () => {
  const app = await startExplored([Tools]);
  const caller = { kind: 'made-up', scopes: [], roles: ['clerk'] };
  const { json, text } = await app.post('/mcp-explorer/api/as-whom', { server: 'test', caller });
  await app.close();
  const [tools] = json.lists;
  expect(tools.entries).toMatchObject([{ name: 'near' }]);
  expect(tools.missing).toMatchObject([
    { name: 'broken', by: 'guard', names: ['BrokenGuard'], why: expect.stringMatching(/failed.*TypeError/) },
  ]);
  expect(text).not.toContain('canary');
});
