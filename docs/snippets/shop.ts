// Shared code of the snippets on several pages.
import { Injectable } from '@nestjs/common';
import { IsIn, IsString } from 'class-validator';

// #region dtos
export class DeployDto {
  @IsString()
  service!: string;
}

export class Region {
  @IsIn(['eu', 'us'])
  name!: string;
}
// #endregion dtos

@Injectable()
export class Deployments {
  start(service: string, region: string) {
    return `${service} runs in ${region}`;
  }
}

@Injectable()
export class Planner {
  plan(service: string) {
    return { service, cost: '20 €' };
  }
}

export interface Product {
  readonly id: string;
  readonly name: string;
}

@Injectable()
export class ProductService {
  private readonly products: Product[] = [
    { id: '1', name: 'desk lamp' },
    { id: '2', name: 'floor lamp' },
    { id: '3', name: 'chair' },
  ];

  find(query: string, limit = 10) {
    return this.products
      .filter(({ name }) => name.includes(query))
      .slice(0, limit);
  }

  get(id: string) {
    return this.products.find(product => product.id === id);
  }
}
