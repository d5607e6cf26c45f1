// Checks that a version can be published: `node tools/check-release.mjs v0.1.0`. Only the owner of the repository knows the
// addresses that package.json must have by then.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const read = name => readFileSync(join(ROOT, name), 'utf8');
const [tag = ''] = process.argv.slice(2);
const own = JSON.parse(read('package.json'));

const problems = [];
const check = (isRight, problem) => isRight || problems.push(problem);
check(
  tag === `v${own.version}`,
  `the tag is ${tag || 'missing'}, and package.json has the version ${own.version}`,
);
for (const field of ['repository', 'bugs', 'homepage']) {
  const { url = own[field] } = own[field] ?? {};
  check(/^(git\+)?https:\/\/\S+$/.test(url ?? ''), `"${field}" of package.json is no https URL`);
}
const heading = read('CHANGELOG.md').match(/^## (.*)$/m)?.[1] ?? '';
const [version, date] = heading.split(' – ');
check(
  version === own.version && /^\d{4}-\d{2}-\d{2}$/.test(date ?? ''),
  `the first heading of CHANGELOG.md has to be "## ${own.version} – YYYY-MM-DD", and is "## ${heading}"`,
);

for (const problem of problems) console.error(problem);
console.log(`${3 + 2 - problems.length} passed, ${problems.length} failed`);
process.exitCode = problems.length === 0 ? 0 : 1;
