import { check, connect, drive, errorOf, REVISIONS, startSample, textOf } from '../support/drive.js';

drive(async () => {
  const sample = await startSample('02-zod');
  for (const revision of REVISIONS) {
    const client = await connect(sample.url, revision);
    const forecast = (query: object) => client.callTool({ name: 'forecast', arguments: { ...query } });
    console.log(revision);

    const { tools } = await client.listTools();
    const [{ inputSchema, outputSchema }] = tools;
    check('the default in the input schema', inputSchema.properties?.['days'], {
      type: 'integer',
      minimum: 1,
      maximum: 7,
      default: 3,
      description: 'How many days ahead',
    });
    check('the output schema', outputSchema?.required, ['city', 'days']);

    const lisbon = await forecast({ city: 'Lisbon', days: 1 });
    const days = [{ day: 1, celsius: 20, sky: 'sun' }];
    check('structured content', lisbon.structuredContent, { city: 'Lisbon', days });
    check('the same as text', JSON.parse(textOf(lisbon)), { city: 'Lisbon', days });

    const { structuredContent } = await forecast({ city: 'Lisbon' });
    check('days by default', (structuredContent as { days: unknown[] }).days.length, 3);
    check('days out of range', textOf(await forecast({ city: 'Lisbon', days: 30 })), /days: /);
    check(
      'an exception of Nest',
      textOf(await forecast({ city: 'Athens' })),
      'The station in Athens is silent',
    );

    const ref = { type: 'ref/prompt', name: 'trip' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'city', value: 'a' } });
    check('complete city "a"', completion.values, ['Amsterdam', 'Athens']);

    const { messages } = await client.getPrompt({ name: 'trip', arguments: { city: 'Lisbon' } });
    check('the prompt', messages[0].content, {
      type: 'text',
      text: 'Look up the weather in Lisbon, then plan a cheap weekend there.',
    });
    const refused = await errorOf(client.getPrompt({ name: 'trip', arguments: { city: 'Atlantis' } }));
    check('a prompt with an invalid argument', refused.code, -32602);
    await client.close();
  }
  await sample.stop();
});
