import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Length } from 'class-validator';

export class ListDto {
  @ApiPropertyOptional({ description: 'Only orders in this state' })
  @IsOptional()
  @IsIn(['open', 'cancelled'])
  state?: string;
}

export class CreateDto {
  @ApiProperty({ description: 'What to order', example: 'umbrella' })
  @IsString()
  @Length(2, 50)
  product!: string;
}

export class CancelDto {
  @ApiProperty({ description: 'Why the order is cancelled' })
  @IsString()
  @Length(3, 200)
  reason!: string;
}
