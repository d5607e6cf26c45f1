import { Injectable, Logger } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Args, Tool } from 'nestjs-mcp';
import { Guardrails } from './interceptors.js';
import { checkOutput, startShop } from './support.js';

class OrderDto {
  @IsInt()
  quantity!: number;
}

@Injectable()
class OrderTools {
  @Tool({ description: 'Places an order' })
  placeOrder(@Args() { quantity }: OrderDto) {
    return `${quantity} ordered, paid with 4111111111111111`;
  }
}

const providers = [OrderTools, Guardrails];
const order = (quantity: number) => ({
  name: 'placeOrder',
  arguments: { quantity },
});

it('the validator refuses an order, and the mutator hides the card', async () => {
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
  const { client, close } = await startShop({ providers });
  const refused = client.callTool(order(40)).catch((error: unknown) => error);
  const { code, message, data } = (await refused) as Record<string, unknown>;
  checkOutput('refused.txt', { code, message, data });
  expect((await client.callTool(order(1))).content).toEqual([
    { type: 'text', text: '1 ordered, paid with ****' },
  ]);
  const lines = log.mock.calls.map(([line]) => String(line));
  expect(lines).toContain('tools/call request: validation_failed');
  expect(lines).toContain('tools/call response: success');
  await close();
  log.mockRestore();
});
