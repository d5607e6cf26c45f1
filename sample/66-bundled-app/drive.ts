import { check, connect, drive, REVISIONS, startSample, textOf } from '../support/drive.js';

drive(async () => {
  const sample = await startSample('66-bundled-app');
  for (const revision of REVISIONS) {
    console.log(revision);
    const client = await connect(sample.url, revision);
    const { tools } = await client.listTools();
    check('the tool names its view', tools[0]._meta?.['ui'], { resourceUri: 'ui://sales/chart' });
    const { contents } = await client.readResource({ uri: 'ui://sales/chart' });
    const [view] = contents as { text: string }[];
    check('the view is one file with its script', /<script type="module"[^>]*>[^<]/.test(view.text), true);
    check('and loads no other', /<(script|link)[^>]*\s(src|href)=/.test(view.text), false);
    const result = await client.callTool({ name: 'sales', arguments: { region: 'Asia' } });
    check('the text is for models', textOf(result), 'Asia: Q1 20, Q2 25, Q3 30, Q4 35');
    await client.close();
  }
  await sample.stop();
});
