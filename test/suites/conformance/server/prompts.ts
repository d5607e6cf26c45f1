import { Injectable } from '@nestjs/common';
import { Args, Completion, Prompt } from 'nestjs-mcp';
import { RED_PIXEL } from './fixtures.js';

const CITIES = ['paris', 'porto', 'prague'];

const user = (content: object) => ({ role: 'user', content });

@Injectable()
export class Prompts {
  @Prompt({ name: 'test_simple_prompt', description: 'A prompt without arguments' })
  simple() {
    return 'This is a simple prompt for testing.';
  }

  @Prompt({ name: 'test_prompt_with_arguments', description: 'A prompt with two arguments' })
  withArguments(
    @Args({ name: 'arg1', description: 'The first argument' }) arg1: string,
    @Args({ name: 'arg2', description: 'The second argument' }) arg2: string,
  ) {
    return `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`;
  }

  @Completion({ prompt: 'test_prompt_with_arguments', argument: 'arg1' })
  cities(typed: string) {
    return CITIES.filter(city => city.startsWith(typed));
  }

  @Prompt({ name: 'test_prompt_with_embedded_resource', description: 'A prompt that holds a resource' })
  withResource(@Args('resourceUri') uri: string) {
    const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
    return [
      user({ type: 'resource', resource }),
      user({ type: 'text', text: 'Please process the embedded resource above.' }),
    ];
  }

  @Prompt({ name: 'test_prompt_with_image', description: 'A prompt that holds an image' })
  withImage() {
    return [
      user({ type: 'image', data: RED_PIXEL, mimeType: 'image/png' }),
      user({ type: 'text', text: 'Please analyze the image above.' }),
    ];
  }
}
