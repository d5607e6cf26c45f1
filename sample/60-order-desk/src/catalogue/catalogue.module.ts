import { Module, type OnModuleInit } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Product } from './product.entity.js';
import { ProductsController } from './products.controller.js';

const FIRST = [
  { sku: 'CHAIR-1', name: 'Oak chair', price: 14_900, stock: 12 },
  { sku: 'LAMP-1', name: 'Desk lamp', price: 3_900, stock: 40 },
  { sku: 'LAMP-2', name: 'Floor lamp', price: 8_900, stock: 7 },
];

@Module({
  imports: [TypeOrmModule.forFeature([Product])],
  controllers: [ProductsController],
  exports: [TypeOrmModule],
})
export class CatalogueModule implements OnModuleInit {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  async onModuleInit() {
    if ((await this.products.count()) === 0) await this.products.save(FIRST);
  }
}
