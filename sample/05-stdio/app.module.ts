import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Notes } from './notes.js';

@Module({
  imports: [McpModule.forRoot({ name: 'notes', version: '1.0.0', http: false, stdio: true })],
  providers: [Notes],
})
export class AppModule {}
