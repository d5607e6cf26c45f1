import type { Profile } from './contenders/profile.js';

const IDLE = '(idle)';
const LEAST_PERCENT = 1;

/** Prints the packages in which a server spent its time, the idle time left out. */
export function printProfile(name: string, profile: Profile): void {
  const busy = Object.entries(profile).filter(([owner]) => owner !== IDLE);
  const total = busy.reduce((sum, [, ms]) => sum + ms, 0);
  console.log(`\n${name}: self time by package`);
  for (const [owner, ms] of busy.sort(([, a], [, b]) => b - a)) {
    const percent = (ms / total) * 100;
    if (percent >= LEAST_PERCENT) console.log(`${percent.toFixed(1).padStart(6)} %  ${owner}`);
  }
}
