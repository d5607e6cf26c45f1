import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';

const NAMES = ['desk lamp', 'floor lamp', 'tea pot'];

@Injectable()
export class Products {
  find(query: string): string[] {
    return NAMES.filter(name => name.includes(query));
  }

  @Tool({ description: 'Orders a product' })
  order(@Args('name') name: string) {
    return `ordered ${name}`;
  }
}
