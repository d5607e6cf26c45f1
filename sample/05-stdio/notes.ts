import { Injectable, Logger } from '@nestjs/common';
import { Args, Resource, Tool } from 'nestjs-mcp';

@Injectable()
export class Notes {
  private readonly logger = new Logger(Notes.name);
  private readonly notes: string[] = [];

  constructor() {
    console.log('console.log, while the application starts');
  }

  @Tool({ description: 'Keeps a note' })
  keep(@Args('text') text: string) {
    console.log('console.log, in a tool');
    process.stdout.write('process.stdout.write, in a tool\n');
    this.logger.log('Logger, in a tool');
    return `note ${this.notes.push(text)}`;
  }

  @Resource({ uri: 'notes://all', mimeType: 'application/json' })
  all() {
    return this.notes;
  }
}
