import { Injectable, NotFoundException } from '@nestjs/common';
import { Args, McpErrorCode, McpException, Tool } from 'nestjs-mcp';
import { ProductService } from './shop.js';

@Injectable()
export class CatalogTools {
  constructor(private readonly products: ProductService) {}

  // #region errors
  @Tool({ description: 'Read a product' })
  product(@Args('id') id: string) {
    const product = this.products.get(id);
    // The model reads the message, and can correct itself.
    if (!product) throw new NotFoundException(`Product ${id} does not exist`);
    return product;
  }

  @Tool({ description: 'Delete a product' })
  remove(@Args('id') id: string) {
    // The client gets a JSON-RPC error; the model does not see it.
    throw new McpException(McpErrorCode.InvalidParams, 'Read only', { id });
  }
  // #endregion errors
}
