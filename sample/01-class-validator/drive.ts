import { check, connect, drive, REVISIONS, startSample, textOf } from '../support/drive.js';

const ORDER = {
  email: 'ada@example.com',
  lines: [
    { sku: 'AB-123', quantity: 2 },
    { sku: 'CD-456', quantity: 1 },
  ],
  shipping: 'express',
};

drive(async () => {
  const sample = await startSample('01-class-validator');
  for (const revision of REVISIONS) {
    const client = await connect(sample.url, revision);
    const placeOrder = (order: object) => client.callTool({ name: 'placeOrder', arguments: { ...order } });
    console.log(revision);

    const { tools } = await client.listTools();
    const [{ inputSchema, outputSchema }] = tools;
    const { email, lines, shipping } = inputSchema.properties as Record<string, unknown>;
    check('the DTO has a description', inputSchema.description, 'An order as a customer places it');
    check('all but the note is required', inputSchema.required?.toSorted(), ['email', 'lines', 'shipping']);
    check('an inherited property', email, {
      type: 'string',
      format: 'email',
      description: 'Where the confirmation goes',
    });
    check('an enumeration', shipping, { type: 'string', enum: ['standard', 'express'] });
    check('an array of nested DTOs', lines, {
      type: 'array',
      minItems: 1,
      items: { type: 'object', $ref: '#/$defs/OrderLineDto' },
    });
    const returned = Object.keys(outputSchema?.properties ?? {});
    check('the result has a schema too', returned.sort(), ['email', 'items', 'shippingCost']);

    const receipt = await placeOrder(ORDER);
    check('a valid order', receipt.structuredContent, {
      email: 'ada@example.com',
      items: 3,
      shippingCost: 9.9,
    });

    const refused = await placeOrder({
      ...ORDER,
      shipping: 'pigeon',
      lines: [{ sku: 'AB-123', quantity: 0 }],
    });
    check('an invalid order is a result with isError', refused.isError, true);
    check(
      'which names every path',
      textOf(refused),
      'Invalid arguments for tool "placeOrder": lines[0].quantity: quantity must not be less than 1; ' +
        'shipping: shipping must be one of the following values: standard, express',
    );
    check('an unknown property', textOf(await placeOrder({ ...ORDER, discount: 100 })), /discount/);

    await client.close();
  }
  await sample.stop();
});
