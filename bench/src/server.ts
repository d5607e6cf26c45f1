// One application with two servers: one as it is, one behind ten validators.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Args, McpModule, Tool, Validator, type InterceptorInvocation } from '../../dist/cjs/index.js';
import { isClean, type CALL } from './interceptors.js';

const SERVERS = ['plain', 'guarded'] as const;

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
for (let index = 0; index < 10; index++) {
  const method = `validator${index}`;
  Object.defineProperty(Guards.prototype, method, {
    value: ({ payload }: InterceptorInvocation<'tools/call', 'request'>) => isClean(payload as typeof CALL),
    configurable: true,
  });
  decorate(Guards.prototype, method, Validator({ events: ['tools/call'], server: 'guarded' }));
}

class App {}
Module({
  imports: SERVERS.map(name => McpModule.forRoot({ name, version: '1.0.0', http: { path: `/${name}` } })),
  providers: [Orders, Guards],
})(App);

const app = await NestFactory.create(App, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
