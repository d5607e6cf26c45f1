import { Controller, Get, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApiExcludeController, ApiTags, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { McpModule, type McpModuleOptions } from 'nestjs-mcp';

@Controller('shop')
class ShopController {
  @Get()
  list() {
    return [];
  }
}

describe('the OpenAPI document of the application', () => {
  let app: INestApplication;
  afterEach(() => app.close());

  const pathsOf = async (http: McpModuleOptions['http']) => {
    @Module({
      imports: [McpModule.forRoot({ name: 'shop', version: '1', http })],
      controllers: [ShopController],
    })
    class AppModule {}
    app = await NestFactory.create(AppModule, { logger: false });
    await app.init();
    return Object.keys(SwaggerModule.createDocument(app, new DocumentBuilder().build()).paths);
  };

  it.each([
    ['', []],
    [', whatever else decorates the route', [ApiTags('mcp')]],
  ])('leaves the endpoint out%s', async (_, decorators) => {
    expect(await pathsOf({ decorators })).toEqual(['/shop']);
  });

  it('has the endpoint where it is asked for', async () => {
    expect(await pathsOf({ decorators: [ApiExcludeController(false)] })).toEqual(
      expect.arrayContaining(['/shop', '/mcp']),
    );
  });
});
