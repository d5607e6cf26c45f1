import { Session } from 'node:inspector/promises';

/** Milliseconds of self time, by package. */
export type Profile = Readonly<Record<string, number>>;

/** Records where the process spends its time. Returns the function that ends the recording. */
export async function startProfile(): Promise<() => Promise<Profile>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const packages = new Map(profile.nodes.map(({ id, callFrame }) => [id, packageOf(callFrame)]));
    const times: Record<string, number> = {};
    for (const [index, id] of profile.samples!.entries()) {
      const name = packages.get(id)!;
      times[name] = (times[name] ?? 0) + profile.timeDeltas![index] / 1000;
    }
    return times;
  };
}

function packageOf({ url, functionName }: { url: string; functionName: string }): string {
  const [, installed] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (installed) return installed;
  if (url.startsWith('node:')) return 'node';
  if (url.includes('/dist/cjs/')) return 'nestjs-mcp';
  if (url !== '') return 'the contender itself';
  // The profiler starts and ends in `dispatch`.
  if (functionName === 'dispatch') return '(idle)';
  return functionName.startsWith('(') ? functionName : 'native code';
}
