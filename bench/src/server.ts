// One application with three servers: one as it is, one behind ten rules, one behind ten scans of all its text.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Args, McpModule, Tool, Validator, type InterceptorInvocation } from '../../dist/cjs/index.js';
import { isClean, RULES, type CALL } from './interceptors.js';

const VALIDATORS = { plain: [], ruled: RULES, scanned: RULES.map(() => isClean) };
const SERVERS = Object.keys(VALIDATORS);

class Orders {
  order(order: { customer: { name: string } }) {
    return `An order of ${order.customer.name}`;
  }
}
class Guards {}

const decorate = (target: object, method: string, decorator: MethodDecorator) =>
  decorator(target, method, Object.getOwnPropertyDescriptor(target, method)!);

Args()(Orders.prototype, 'order', 0);
for (const server of SERVERS) {
  decorate(Orders.prototype, 'order', Tool({ name: 'create_order', server, input: { type: 'object' } }));
}
for (const [server, validators] of Object.entries(VALIDATORS)) {
  for (const [index, isValid] of validators.entries()) {
    const method = `${server}${index}`;
    Object.defineProperty(Guards.prototype, method, {
      value: ({ payload }: InterceptorInvocation<'tools/call', 'request'>) => isValid(payload as typeof CALL),
      configurable: true,
    });
    decorate(Guards.prototype, method, Validator({ events: ['tools/call'], server }));
  }
}

class App {}
Module({
  imports: SERVERS.map(name => McpModule.forRoot({ name, version: '1.0.0', http: { path: `/${name}` } })),
  providers: [Orders, Guards],
})(App);

const app = await NestFactory.create(App, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
