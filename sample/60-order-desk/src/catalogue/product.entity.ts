import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity()
export class Product {
  /**
   * The number of the product
   * @example 'LAMP-1'
   */
  @PrimaryColumn()
  sku!: string;

  @Column()
  name!: string;

  /** In cents */
  @Column()
  price!: number;

  /** How many can be ordered */
  @Column()
  stock!: number;
}
