import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  IsEmail,
  IsInt,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

class CustomerDto {
  @Length(1, 200)
  name!: string;

  @IsEmail()
  email!: string;
}

class ItemDto {
  @Matches(/^[A-Z]{2}-\d{4}$/)
  sku!: string;

  @IsInt()
  @Min(1)
  @Max(500)
  quantity!: number;

  @IsString()
  note!: string;
}

/** The arguments of the order that is placed again and again. */
export class OrderDto {
  @ValidateNested()
  @Type(() => CustomerDto)
  customer!: CustomerDto;

  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => ItemDto)
  items!: ItemDto[];

  @Length(0, 1000)
  comment!: string;
}

export const receipt = ({ customer }: OrderDto) => `An order of ${customer.name}`;

export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

const ROLES = new Map([['Bearer token-of-ada', ['customer']]]);

/** The guard of an ordinary application, for routes and tools alike. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    const needed = this.reflector.getAllAndOverride<string[] | undefined>('roles', targets) ?? [];
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    const roles = ROLES.get(headers['authorization'] ?? '') ?? [];
    return needed.every(role => roles.includes(role));
  }
}
