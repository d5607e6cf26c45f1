// Drives every sample, one after the other, or those that are named: `node drive-all.js 10-interceptors`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const asked = process.argv.slice(2);
const samples = readdirSync(__dirname)
  .filter(name => /^\d/.test(name) && (asked.length === 0 || asked.includes(name)))
  .sort();
let failed = 0;
for (const sample of samples) {
  console.log(`\n== ${sample} ==`);
  const { status } = spawnSync(process.execPath, [join(__dirname, sample, 'drive.js')], { stdio: 'inherit' });
  if (status !== 0) failed += 1;
}
console.log(`\n${samples.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
