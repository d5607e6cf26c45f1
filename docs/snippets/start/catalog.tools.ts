import { Injectable } from '@nestjs/common';
import { IsInt, IsString, Max } from 'class-validator';
import { Args, Tool } from 'nestjs-mcp';

const PRODUCTS = ['desk lamp', 'floor lamp', 'chair'];

export class SearchDto {
  @IsString()
  query!: string;

  @IsInt()
  @Max(50)
  limit: number = 10;
}

@Injectable()
export class CatalogTools {
  @Tool({ description: 'Search the product catalogue' })
  search(@Args() { query, limit }: SearchDto) {
    return PRODUCTS.filter(name => name.includes(query)).slice(0, limit);
  }
}
