// Runs the official conformance suite against the conformance server on every adapter and through a gateway, and against
// the client: `npm run conformance`.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { build } from './support/build.mjs';
import { install, modernNode } from './support/install.mjs';
import { startServer } from './support/start-server.mjs';

/** What the suite runs against: a column of the table each. */
const SUBJECTS = {
  express: () => startServer({ ADAPTER: 'express' }),
  fastify: () => startServer({ ADAPTER: 'fastify' }),
  node: () => startServer({ ADAPTER: 'node' }),
  gateway: startGateway,
};

const COLUMNS = Object.keys(SUBJECTS);

/** How many scenarios a revision requires of a server: fewer than these would mean that the suite has changed. */
const REVISIONS = { '2025-11-25': 30, '2026-07-28': 37 };

/** Scenarios that no revision requires, run by name. */
const SINGLE = ['http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12'];

/** Scenarios of the skills extension, with their checks. The suite skips all checks if the extension is not declared. */
const SKILLS = {
  'sep-2640-skills-enumeration': 31,
  'sep-2640-skills-directory': 6,
  'sep-2640-skills-manifest': 5,
};

/** Scenarios for a client. */
const CLIENT = ['http-standard-headers', 'http-custom-headers', 'http-invalid-tool-headers'];

/** Scenarios that do not pass, none of which a revision requires. */
const EXPECTED_FAILURES = new Set([
  // The gateway itself comes back to its backend, and its client has nothing to come back for.
  'gateway: server-sse-polling',
  // The suite always skips it.
  'tasks-status-notifications',
]);

const suite = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance');
const results = join(import.meta.dirname, 'results');

/** Runs the suite; resolves to the scenarios that it ran, by name, each with its checks. */
async function runSuite(folder, args) {
  const output = join(results, folder);
  const command = [join(suite, 'dist/index.js'), ...args, '--output-dir', output];
  const log = await new Promise(resolve => {
    // The exit code says no more than the results do.
    execFile(modernNode(), command, { timeout: 300_000 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  if (!existsSync(output)) throw new Error(`The suite left no results:\n${log}`);
  return new Map(
    readdirSync(output).map(name => [
      /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)[1],
      readChecks(join(output, name, 'checks.json')),
    ]),
  );
}

/** A scenario that breaks off leaves none. */
const readChecks = file => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);

const failuresOf = checks => checks.filter(({ status }) => status === 'FAILURE');

/** As the suite counts: a warning is no failure; but where nothing succeeded, nothing was shown. */
const passes = checks =>
  checks !== undefined &&
  failuresOf(checks).length === 0 &&
  checks.some(({ status }) => status === 'SUCCESS');

const isExpected = ({ subject, scenario, required }) =>
  !required && (EXPECTED_FAILURES.has(scenario) || EXPECTED_FAILURES.has(`${subject}: ${scenario}`));

/** A gateway in front of a conformance server of its own, each in a process of its own. */
async function startGateway() {
  const backend = await startServer({ ADAPTER: 'express' });
  const closeBackend = () => backend.close();
  try {
    const gateway = await startServer({ ADAPTER: 'express', BACKEND: backend.url });
    return { url: gateway.url, close: () => gateway.close().finally(closeBackend) };
  } catch (error) {
    await closeBackend();
    throw error;
  }
}

async function runSubject(subject) {
  const server = await SUBJECTS[subject]();
  const against = ['server', '--url', server.url];
  const ran = [];
  const add = (run, scenario, checks, required) =>
    ran.push({ subject, run, scenario, checks, required, passed: passes(checks) });
  try {
    for (const revision of Object.keys(REVISIONS)) {
      const found = await runSuite(join(subject, revision), [...against, '--requirements', revision]);
      const required = requiredOf(revision);
      for (const scenario of new Set([...required, ...found.keys()])) {
        add(revision, scenario, found.get(scenario), required.includes(scenario));
      }
    }
    for (const scenario of SINGLE) {
      const found = await runSuite(join(subject, scenario), [...against, '--scenario', scenario]);
      add('by name', scenario, found.get(scenario), true);
    }
    // A gateway offers what its backends have, and no skills.
    for (const [scenario, expected] of subject === 'gateway' ? [] : Object.entries(SKILLS)) {
      const found = await runSuite(join(subject, scenario), [...against, '--scenario', scenario]);
      const checks = found.get(scenario);
      const own = checks?.filter(({ id, status }) => id.startsWith('sep-2640-') && status === 'SUCCESS');
      const passed = passes(checks) && own.length === expected;
      ran.push({ subject, run: 'skills', scenario, checks, required: true, passed });
    }
  } finally {
    await server.close();
  }
  return ran;
}

async function runClient() {
  const ran = [];
  for (const scenario of CLIENT) {
    const command = `"${process.execPath}" "${build().client}"`;
    const args = ['client', '--command', command, '--scenario', scenario];
    const checks = (await runSuite(join('client', scenario), args)).get(scenario);
    ran.push({ subject: 'client', run: 'by name', scenario, checks, required: true, passed: passes(checks) });
  }
  return ran;
}

function describe({ subject, run, scenario, checks }) {
  const causes = checks === undefined ? ['it broke off'] : failuresOf(checks).map(explain);
  return `${subject}, ${run}, ${scenario}: ${causes.join('; ') || 'no check succeeded'}`;
}

const explain = ({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`;

const count = scenarios => `${scenarios.filter(({ passed }) => passed).length} of ${scenarios.length}`;

function printTable(all) {
  const line = (label, cellOf) =>
    console.log(label.padEnd(44) + COLUMNS.map(subject => cellOf(subject).padStart(10)).join(''));
  const row = (label, select) =>
    line(label, subject => count(all.filter(result => result.subject === subject && select(result))));

  line('Scenarios passed', subject => subject);
  for (const revision of Object.keys(REVISIONS)) {
    row(`${revision}, required`, ({ run, required }) => run === revision && required);
  }
  row('  of which input-required-result-*', ({ scenario }) => scenario.startsWith('input-required-result-'));
  for (const name of SINGLE) row(name, ({ run, scenario }) => run === 'by name' && scenario === name);
  for (const name of Object.keys(SKILLS))
    row(name, ({ run, scenario }) => run === 'skills' && scenario === name);
  row('Others, not required', result => !result.required && !isExpected(result));
  row('Expected failures', isExpected);
  console.log(`\nClient scenarios passed: ${count(all.filter(({ subject }) => subject === 'client'))}`);
}

install(import.meta.dirname);
build();
rmSync(results, { recursive: true, force: true });
const { parse } = await import('yaml');
const requiredOf = revision =>
  parse(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8')).server;

for (const [revision, expected] of Object.entries(REVISIONS)) {
  const { length } = requiredOf(revision);
  if (length !== expected) throw new Error(`${revision} requires ${length} scenarios, not ${expected}`);
}
const all = (await Promise.all([...COLUMNS.map(runSubject), runClient()])).flat();
const failed = all.filter(result => !result.passed && !isExpected(result));

printTable(all);
for (const { subject, run, scenario } of all.filter(result => result.passed && isExpected(result))) {
  console.log(`Passes, although it is expected to fail: ${subject}, ${run}, ${scenario}`);
}
for (const result of failed) console.log(describe(result));
console.log(`\n${all.filter(({ passed }) => passed).length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
