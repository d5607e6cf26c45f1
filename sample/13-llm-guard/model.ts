import { Injectable } from '@nestjs/common';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Stands in for a language model's API: it repeats what it was asked, with a phone number that nobody may have. */
@Injectable()
export class Model {
  async complete(messages: readonly Message[]): Promise<Message> {
    return { role: 'assistant', content: `${messages.at(-1)?.content} Call +44 20 7946 0958.` };
  }
}
