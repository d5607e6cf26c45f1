import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { STATES, type State } from './order.entity.js';

export class PlaceDto {
  /** The number of the product, as search_products lists it */
  @IsString()
  @Length(3, 20)
  sku!: string;

  @IsInt()
  @Min(1)
  @Max(100)
  quantity!: number;

  /** Who gets the goods */
  @IsString()
  @Length(2, 80)
  customer!: string;
}

export class ListDto {
  /** Without it, orders of all states are listed. */
  @IsOptional()
  @IsIn(STATES)
  state?: State;
}

export class CancelDto {
  /** What the customer is told */
  @IsString()
  @Length(3, 200)
  reason!: string;
}
