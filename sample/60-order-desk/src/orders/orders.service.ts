import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource, InjectRepository } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';
import { Product } from '../catalogue/product.entity.js';
import { Order, type State } from './order.entity.js';
import type { PlaceDto } from './orders.dto.js';

@Injectable()
export class OrdersService {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    @InjectRepository(Order) private readonly orders: Repository<Order>,
  ) {}

  list(state?: State): Promise<Order[]> {
    return this.orders.find({ where: state && { state }, order: { id: 'ASC' } });
  }

  async read(id: number): Promise<Order> {
    const order = await this.orders.findOneBy({ id });
    if (!order) throw new NotFoundException(`There is no order ${id}`);
    return order;
  }

  /** Takes the goods out of the stock. */
  place(clerk: string, { sku, quantity, customer }: PlaceDto): Promise<Order> {
    return this.database.transaction(async manager => {
      const product = await manager.findOneBy(Product, { sku });
      if (!product) throw new NotFoundException(`There is no product ${sku}`);
      const { affected } = await manager
        .createQueryBuilder()
        .update(Product)
        .set({ stock: () => 'stock - :quantity' })
        .where('sku = :sku AND stock >= :quantity', { sku, quantity })
        .execute();
      if (affected === 0) throw new ConflictException(`Only ${product.stock} of ${product.name} are left`);
      product.stock -= quantity;
      return manager.save(Order, { product, quantity, customer, clerk });
    });
  }

  /** Puts the goods back into the stock. */
  cancel(id: number, reason: string): Promise<Order> {
    return this.database.transaction(async manager => {
      const { affected } = await manager.update(Order, { id, state: 'open' }, { state: 'cancelled', reason });
      if (affected === 0) throw new ConflictException(`Order ${id} is not open`);
      const order = await manager.findOneByOrFail(Order, { id });
      await manager.increment(Product, { sku: order.product.sku }, 'stock', order.quantity);
      return order;
    });
  }

  async ship(id: number): Promise<Order> {
    const { affected } = await this.orders.update({ id, state: 'open' }, { state: 'shipped' });
    if (affected === 0) throw new ConflictException(`Order ${id} is not open`);
    return this.read(id);
  }
}
