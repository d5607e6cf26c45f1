// A server for hosts that start it themselves: no HTTP, only stdin and stdout. Whatever the application prints goes to
// stderr, so that nothing breaks the stream.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

void NestFactory.createApplicationContext(AppModule);
