import { Injectable } from '@nestjs/common';
import type { GetPromptResult } from '@modelcontextprotocol/server';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { Args, Completion, Description, Prompt } from 'nestjs-mcp';

// #region prompt
export class ReviewDto {
  @Description('The code to review')
  @IsString()
  code!: string;

  @IsOptional()
  @IsIn(['short', 'long'])
  length?: string;
}

@Injectable()
export class ReviewPrompts {
  @Prompt({ description: 'Reviews code' })
  review(@Args() { code, length = 'short' }: ReviewDto) {
    return `Write a ${length} review of this code:\n${code}`;
  }
}
// #endregion prompt

const LANGUAGES = ['English', 'French', 'German', 'Greek'];

export class Welcome {
  // #region messages
  @Prompt()
  interview(@Args('topic') topic: string): GetPromptResult {
    return {
      description: `An interview about ${topic}`,
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Ask me about ${topic}.` },
        },
        {
          role: 'assistant',
          content: { type: 'text', text: 'Where did you learn it?' },
        },
      ],
    };
  }
  // #endregion messages

  // #region completion
  @Prompt()
  welcome(@Args('language') language: string) {
    return `Welcome me in ${language}.`;
  }

  @Completion({ prompt: 'welcome', argument: 'language' })
  languages(typed: string) {
    return LANGUAGES.filter(language => language.startsWith(typed));
  }
  // #endregion completion
}
