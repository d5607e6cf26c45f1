import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

drive(async () => {
  const sample = await startSample('12-gateway');
  for (const revision of REVISIONS) {
    const client = await connect(sample.url, revision);
    console.log(revision);

    check('who is behind it', client.getServerVersion()?.name, 'mcp-servers/everything');
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    check(
      'its tools, but for the hidden one',
      [names.includes('echo'), names.includes('get-env')],
      [true, false],
    );
    const { message } = await errorOf(client.callTool({ name: 'get-env' }));
    check('which cannot be called', message, /Unknown tool: get-env/);
    const sum = (a: number) => client.callTool({ name: 'get-sum', arguments: { a, b: 2 } });
    check('a call that goes through', textOf(await sum(1)), 'The sum of 1 and 2 is 3.');
    check('one that is refused', (await errorOf(sum(1000))).code, -32602);
    const steps: number[] = [];
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
      { onprogress: ({ progress }) => void steps.push(progress) },
    );
    check('progress', steps, [1, 2]);
    const { prompts } = await client.listPrompts();
    check('a prompt', prompts[0].name, 'simple-prompt');
    await client.close();
  }
  await sample.stop();
});
