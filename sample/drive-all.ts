// Drives every sample, one after the other.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const samples = readdirSync(__dirname)
  .filter(name => /^\d/.test(name))
  .sort();
let failed = 0;
for (const sample of samples) {
  console.log(`\n== ${sample} ==`);
  const { status } = spawnSync(process.execPath, [join(__dirname, sample, 'drive.js')], { stdio: 'inherit' });
  if (status !== 0) failed += 1;
}
console.log(`\n${samples.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
