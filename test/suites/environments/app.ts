import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Type } from 'class-transformer';
import { IsInt, IsString, ValidateNested } from 'class-validator';
import { Args, Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { z } from 'zod';

class Item {
  @IsString()
  sku!: string;

  @IsInt()
  count!: number;
}

class Order {
  @ValidateNested()
  @Type(() => Item)
  item!: Item;
}

class Address {
  @IsString()
  city!: string;
}

const Sum = z.object({ a: z.number(), b: z.number() });

@Injectable()
class Tools {
  @Tool()
  order(@Args() { item }: Order) {
    return `${item instanceof Item}: ${item.count} of ${item.sku}`;
  }

  @Tool({ inputSchema: Sum })
  sum(@Args() { a, b }: z.infer<typeof Sum>) {
    return String(a + b);
  }

  @Tool()
  async ship(@Ctx() ctx: McpContext) {
    const answer = await ctx.elicit('address', { message: 'Where to?', schema: Address });
    return answer.action === 'accept' ? `shipped to ${answer.content.city}` : answer.action;
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })], providers: [Tools] })
class AppModule {}

async function main() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'], abortOnError: false });
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
}

void main();
