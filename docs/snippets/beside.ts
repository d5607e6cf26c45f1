// One application with REST, OpenAPI, a microservice and MCP.
import { Controller, Get, Module, Param, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  MessagePattern,
  Payload,
  Transport,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Args, McpModule, Tool } from 'nestjs-mcp';
import { ProductService } from './shop.js';

// #region guard
export class OpenGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    // 'http' on a route, 'mcp' on a handler, 'rpc' on a message, 'graphql' on a resolver
    return context.getType<string>() !== 'graphql';
  }
}
// #endregion guard

// #region controller
@Controller('products')
@UseGuards(OpenGuard)
export class ProductController {
  constructor(private readonly products: ProductService) {}

  @Tool({ description: 'Read a product' })
  @Get(':id')
  read(@Param('id') id: string) {
    return this.products.get(id);
  }

  @Tool({ description: 'Find products by words of their names' })
  search(@Args('query') query: string) {
    return this.products.find(query);
  }

  @MessagePattern('product')
  message(@Payload() id: string) {
    return this.products.get(id);
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  controllers: [ProductController],
  providers: [ProductService],
})
export class AppModule {}
// #endregion controller

// #region main
export async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  const document = new DocumentBuilder().setTitle('Shop').build();
  SwaggerModule.setup('api', app, () =>
    SwaggerModule.createDocument(app, document),
  );
  app.connectMicroservice<MicroserviceOptions>(
    { transport: Transport.TCP, options: { host: '127.0.0.1', port: 3001 } },
    { inheritAppConfig: true },
  );
  await app.startAllMicroservices();
  await app.listen(3000);
}
// #endregion main
