import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { Mirror } from './support.js';

@Module({
  imports: [McpModule.forRoot({ name: 'mirror', version: '1.0.0', stdio: true, http: false })],
  providers: [Mirror],
})
class AppModule {}

void NestFactory.createApplicationContext(AppModule);
