import { Injectable } from '@nestjs/common';
import { Args, Completion, Prompt, Resource, Tool } from 'nestjs-mcp';

const LANGUAGES = ['English', 'French', 'German', 'Greek'];

@Injectable()
export class Greeter {
  @Tool({ description: 'Greets somebody', annotations: { readOnlyHint: true } })
  greet(@Args('name') name: string) {
    return `Hello, ${name}!`;
  }

  @Resource({ uri: 'greeter://languages', description: 'The languages that a welcome can be in' })
  languages() {
    return LANGUAGES;
  }

  @Prompt({ description: 'Asks for a welcome' })
  welcome(@Args('name') name: string, @Args('language') language: string) {
    return `Welcome ${name} in ${language}.`;
  }

  @Completion({ prompt: 'welcome', argument: 'language' })
  completeLanguage(typed: string) {
    return LANGUAGES.filter(language => language.startsWith(typed));
  }
}
