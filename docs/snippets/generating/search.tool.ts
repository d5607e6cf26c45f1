import { Injectable } from '@nestjs/common';
import { IsString, MaxLength } from 'class-validator';
import { Args, Tool } from 'nestjs-mcp';

export class SearchDto {
  @IsString()
  @MaxLength(1000)
  text!: string;
}

@Injectable()
export class SearchTool {
  @Tool({ description: 'Counts the characters of a text' })
  search(@Args() { text }: SearchDto) {
    return `The text has ${text.length} characters`;
  }
}
