import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpGatewayModule, type McpGatewayOptions } from '../../lib/gateway/index.js';

// A gateway on stdin and stdout; `BACKEND` holds what is behind it, as JSON.
@Module({
  imports: [
    McpGatewayModule.forRoot({
      http: false,
      stdio: true,
      backend: JSON.parse(process.env['BACKEND'] ?? '{}') as McpGatewayOptions['backend'],
    }),
  ],
})
class AppModule {}

void NestFactory.createApplicationContext(AppModule);
