import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Weather } from './weather.js';

@Module({
  imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0' })],
  providers: [Weather],
})
export class AppModule {}
