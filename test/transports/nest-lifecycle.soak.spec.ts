import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { PLATFORMS, startApp } from '../fixtures/matrix.js';
import { soakSize } from '../fixtures/soak.js';

const APPLICATIONS = soakSize(100, 30);

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const listeners = () =>
  Object.fromEntries(process.eventNames().map(name => [name, process.listenerCount(name)]));
const handles = () => process.getActiveResourcesInfo().filter(kind => /TCP|Pipe|Timeout/.test(kind)).length;

describe.each(PLATFORMS)('many applications on %s, one after the other,', platform => {
  it('leave nothing behind', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    const cycle = async (listens: boolean) => {
      const test = await startApp([Tools], { platform, forceCloseConnections: true });
      if (listens) await (await test.client({ era: 'legacy' })).listTools();
      await test.close();
    };
    await cycle(true);
    const before = { listeners: listeners(), handles: handles() };
    for (let i = 0; i < APPLICATIONS; i++) await cycle(i % (APPLICATIONS / 10) === 0);
    expect(listeners()).toEqual(before.listeners);
    // Sockets of the client itself come and go; one for each application would be ten or more.
    expect(handles()).toBeLessThan(before.handles + 5);
    expect(warnings).toEqual([]);
    process.off('warning', onWarning);
  }, 120_000);
});
