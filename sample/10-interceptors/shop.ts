import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';

@Injectable()
export class Shop {
  @Tool({ description: 'Searches the catalogue' })
  search(@Args('query') query: string) {
    return `2 results for ${query}`;
  }

  @Tool({ description: 'Reads a customer record' })
  customer(@Args('id') id: string) {
    return `Customer ${id}, card 4111 1111 1111 1111, api key ghp_1234567890abcdefghijABCDEFGHIJ123456`;
  }

  @Tool({ description: 'Deletes everything' })
  wipe() {
    return 'gone';
  }
}
