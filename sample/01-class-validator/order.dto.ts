import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  IsArray,
  IsEmail,
  IsEnum,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Description } from 'nestjs-mcp';

export enum Shipping {
  Standard = 'standard',
  Express = 'express',
}

export class CustomerDto {
  @IsEmail()
  @Description('Where the confirmation goes')
  email!: string;
}

export class OrderLineDto {
  @Matches(/^[A-Z]{2}-\d{3}$/)
  @Description('Stock keeping unit, such as AB-123')
  sku!: string;

  @IsInt()
  @Min(1)
  quantity!: number;
}

@Description('An order as a customer places it')
export class PlaceOrderDto extends CustomerDto {
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => OrderLineDto)
  lines!: OrderLineDto[];

  @IsEnum(Shipping)
  shipping!: Shipping;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  note?: string;
}

export class ReceiptDto extends CustomerDto {
  @IsInt()
  items!: number;

  @IsNumber()
  @Min(0)
  shippingCost!: number;
}
