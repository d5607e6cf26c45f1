import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isInstalled } from '../redis/proxies.js';

const promtool = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
};

// eslint-disable-next-line no-restricted-syntax -- the program may be missing
(isInstalled('promtool', '--version') ? it : it.skip)(
  'Prometheus raises each alert when it should, and none when nothing is wrong',
  () => {
    const { status, text } = promtool('test', 'rules', join(__dirname, 'alerts.test.yaml'));
    expect([status, text]).toEqual([0, expect.stringContaining('SUCCESS')]);
  },
);
