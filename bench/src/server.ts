// An application as it is (`plain`), behind ten rules (`ruled`), or behind ten scans of all its text (`scanned`).
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Args, McpModule, Tool, Validator, type InterceptorInvocation } from '../../dist/cjs/index.js';
import { isClean, RULES, type CALL } from './interceptors.js';

const validators = { plain: [], ruled: RULES, scanned: RULES.map(() => isClean) }[process.argv[2]] ?? [];

class Orders {
  order(order: { customer: { name: string } }) {
    return `An order of ${order.customer.name}`;
  }
}
class Guards {}

const decorate = (target: object, method: string, decorator: MethodDecorator) =>
  decorator(target, method, Object.getOwnPropertyDescriptor(target, method)!);

Args()(Orders.prototype, 'order', 0);
decorate(Orders.prototype, 'order', Tool({ name: 'create_order', inputSchema: { type: 'object' } }));
for (const [index, isValid] of validators.entries()) {
  const method = `rule${index}`;
  Object.defineProperty(Guards.prototype, method, {
    value: ({ payload }: InterceptorInvocation<'tools/call', 'request'>) => isValid(payload as typeof CALL),
    configurable: true,
  });
  decorate(Guards.prototype, method, Validator({ events: ['tools/call'] }));
}

class App {}
Module({
  imports: [McpModule.forRoot({ name: 'bench', version: '1.0.0' })],
  providers: [Orders, Guards],
})(App);

const app = await NestFactory.create(App, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
