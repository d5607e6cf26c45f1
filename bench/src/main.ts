import { benchEngine } from './engine.js';
import { benchHttp } from './http.js';
import { benchMrtrHttp } from './mrtr-http.js';
import { benchMrtr } from './mrtr.js';
import { benchRemote } from './remote.js';
import { report } from './report.js';

const isSmoke = process.argv.includes('--smoke');

const lines = [
  ...(await benchEngine(isSmoke ? { rounds: 1, roundMs: 1 } : { rounds: 15, roundMs: 40 })),
  ...(await benchRemote(isSmoke ? { rounds: 1, roundMs: 1 } : { rounds: 9, roundMs: 300 })),
  ...(await benchMrtr(isSmoke ? { rounds: 1, roundMs: 1 } : { rounds: 9, roundMs: 100 })),
  ...(await benchHttp(isSmoke ? { rounds: 1, roundMs: 100 } : { rounds: 29, roundMs: 6000 })),
  ...(await benchMrtrHttp(isSmoke ? { rounds: 1, roundMs: 100 } : { rounds: 5, roundMs: 4000 })),
];
const exceeded = report(lines);
if (isSmoke) console.log(`\n${lines.length} comparisons made; too short to judge by`);
else {
  console.log(`\n${lines.length - exceeded.length} passed, ${exceeded.length} failed`);
  process.exitCode = exceeded.length > 0 ? 1 : 0;
}
