import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Assistant } from './assistant.js';
import { Guardrails } from './guardrails.js';
import { Model } from './model.js';

@Module({
  imports: [McpModule.forRoot({ name: 'assistant', version: '1.0.0' })],
  providers: [Assistant, Guardrails, Model],
})
export class AppModule {}
