import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Greeter } from './greeter.js';

const stdio = process.argv.includes('--stdio');

@Module({
  imports: [McpModule.forRoot({ name: 'quickstart', version: '1.0.0', stdio })],
  providers: [Greeter],
})
export class AppModule {}
