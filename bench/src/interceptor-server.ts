// A host of interceptors: one validator that answers at once, and ten that take 50 ms each.
import 'reflect-metadata';
import { setTimeout as after } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule, Validator } from '../../dist/cjs/index.js';
import { ready } from './contenders/setup.js';

class Interceptors {}

const add = (name: string, run: () => boolean | Promise<boolean>) => {
  Object.defineProperty(Interceptors.prototype, name, { value: run, configurable: true });
  const descriptor = Object.getOwnPropertyDescriptor(Interceptors.prototype, name)!;
  Validator({ events: ['tools/call'] })(Interceptors.prototype, name, descriptor);
};
add('fast', () => true);
for (let index = 0; index < 10; index++) add(`slow-${index}`, () => after(50, true));

class App {}
Module({
  imports: [
    McpModule.forRoot({
      name: 'interceptors',
      version: '1.0.0',
      interceptors: { expose: true, apply: false },
    }),
  ],
  providers: [Interceptors],
})(App);

const app = await NestFactory.create(App, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
ready(`${await app.getUrl()}/mcp`);
