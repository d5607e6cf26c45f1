import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Injectable, Module, ValidationPipe } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { IsInt, IsString, Max } from 'class-validator';
import { Args, Description, Tool } from 'nestjs-mcp';
import * as v from 'valibot';
import { z } from 'zod';
import { ProductService } from './shop.js';

// #region dto
export class SearchDto {
  @Description('Words to look for')
  @IsString()
  query!: string;

  @IsInt()
  @Max(50)
  limit: number = 10; // a default makes a property optional
}

@Injectable()
export class CatalogTools {
  constructor(private readonly products: ProductService) {}

  @Tool()
  search(@Args() { query, limit }: SearchDto) {
    return this.products.find(query, limit);
  }
}
// #endregion dto

export class Products {
  constructor(private readonly products: ProductService) {}

  // #region zod
  @Tool({ inputSchema: z.object({ id: z.string().describe('The id') }) })
  byZod(@Args() { id }: { id: string }) {
    return this.products.get(id);
  }
  // #endregion zod

  // #region arktype
  @Tool({ inputSchema: type({ id: 'string' }) })
  byArktype(@Args() { id }: { id: string }) {
    return this.products.get(id);
  }
  // #endregion arktype

  // #region valibot
  @Tool({ inputSchema: toStandardJsonSchema(v.object({ id: v.string() })) })
  byValibot(@Args() { id }: { id: string }) {
    return this.products.get(id);
  }
  // #endregion valibot

  // #region json-schema
  @Tool({
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
      additionalProperties: false,
    },
  })
  byJsonSchema(@Args() { id }: { id: string }) {
    return this.products.get(id);
  }
  // #endregion json-schema
}

// #region pipe
@Module({
  providers: [
    {
      provide: APP_PIPE,
      useValue: new ValidationPipe({
        whitelist: true,
        forbidNonWhitelisted: true,
      }),
    },
  ],
})
export class StrictModule {}
// #endregion pipe
