import { Column, CreateDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { Product } from '../catalogue/product.entity.js';

export const STATES = ['open', 'shipped', 'cancelled'] as const;
export type State = (typeof STATES)[number];

@Entity()
export class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Product, { eager: true })
  product!: Product;

  @Column()
  quantity!: number;

  @Column()
  customer!: string;

  /** Who has taken the order */
  @Column()
  clerk!: string;

  @Column({ type: 'varchar', default: 'open' })
  state!: State;

  @Column({ default: '' })
  reason!: string;

  @CreateDateColumn()
  placedAt!: Date;
}
