import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { check, connect, drive, errorOf, REVISIONS, startSample } from '../support/drive.js';

drive(async () => {
  const sample = await startSample('65-skills');
  for (const revision of REVISIONS) {
    console.log(revision);
    const client = await connect(sample.url, revision);
    const skills = new SkillsClient(client);
    const [refunds, ...others] = (await skills.list()).skills;
    check('a caller finds the skill of the folder', refunds.uri, 'skill://refunds/SKILL.md');
    check('and none of a team', others.length, 0);
    const limits = await skills.read(refunds, 'references/limits.md');
    check('its files have the digests of the entry', limits.verified, true);
    const { resources } = await skills.readDirectory('skill://refunds');
    check('its folder', resources.map(({ name }) => name).join(), 'SKILL.md,references');

    const desk = await connect(sample.url, revision, { headers: { 'x-team': 'desk' } });
    const own = (await new SkillsClient(desk).list()).skills.map(({ uri }) => uri);
    check('the desk finds its own skill, too', own.join(), /skill:\/\/team\/greeting\/SKILL.md$/);
    const read = client.readResource({ uri: 'skill://team/greeting/SKILL.md' });
    check('which is unknown to others', (await errorOf(read)).code, -32602);
    await Promise.all([client.close(), desk.close()]);
  }
  await sample.stop();
});
