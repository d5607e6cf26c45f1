import { ApiProperty } from '@nestjs/swagger';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Order {
  @ApiProperty({ description: 'Number of the order' })
  @PrimaryGeneratedColumn()
  id!: number;

  @ApiProperty({ description: 'What was ordered', example: 'umbrella' })
  @Column()
  product!: string;

  @ApiProperty({ enum: ['open', 'cancelled'] })
  @Column({ default: 'open' })
  state!: string;

  @Column()
  owner!: string;

  @Column({ default: '' })
  reason!: string;
}
