import { Controller, Get, Param, Query, UseGuards } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { Tool } from 'nestjs-mcp';
import { Like, Repository } from 'typeorm';
import { LoginGuard } from '../auth/login.guard.js';
import { Scopes } from '../auth/scopes.js';
import { Product } from './product.entity.js';

export class SearchDto {
  /** A part of the name. Without it, all products are listed. */
  @IsOptional()
  @IsString()
  @MaxLength(50)
  name?: string;
}

@Controller('products')
@UseGuards(LoginGuard)
@Scopes('orders:read')
export class ProductsController {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  /** Searches the catalogue */
  @Tool({ name: 'search_products' })
  @Get()
  search(@Query() { name = '' }: SearchDto): Promise<Product[]> {
    return this.products.find({ where: { name: Like(`%${name}%`) }, order: { sku: 'ASC' } });
  }

  /** Reads a product */
  @Tool({ name: 'read_product' })
  @Get(':sku')
  read(@Param('sku') sku: string): Promise<Product> {
    return this.products.findOneByOrFail({ sku });
  }
}
