import {
  Body,
  Controller,
  Get,
  Headers,
  HostParam,
  Injectable,
  Next,
  Param,
  Post,
  Query,
  RawBody,
  Redirect,
  Render,
  Req,
  Res,
  Session,
  Sse,
  StreamableFile,
  UploadedFile,
  UploadedFiles,
  type Type,
} from '@nestjs/common';
import { IsInt, IsString } from 'class-validator';
import { NEVER } from 'rxjs';
import { Args, Tool, type ToolOptions } from 'nestjs-mcp';
import { startApp, textOf } from '../../fixtures/matrix.js';

class NameDto {
  @IsString()
  name!: string;
}

/** A controller whose route has one parameter with this decorator. */
function withParam(decorator: ParameterDecorator, options: ToolOptions = {}): Type {
  @Controller('things')
  class Things {
    @Tool(options)
    @Get(':id')
    find(@Param('id') _id: string, @decorator _value: string) {
      return 'found';
    }
  }
  return Things;
}

/** A controller whose method has this decorator beside `@Tool()`. */
function withMethod(decorator: MethodDecorator): Type {
  @Controller('things')
  class Things {
    @Tool()
    @decorator
    find(): unknown {
      return NEVER;
    }
  }
  return Things;
}

@Controller('things')
class Equal {
  @Tool()
  @Post(':name')
  find(@Param('name') _name: string, @Body() _body: NameDto) {}
}

@Controller('things')
class Files {
  @Tool()
  @Get()
  find(): StreamableFile {
    return new StreamableFile(Buffer.from('x'));
  }
}

class PageDto {
  @IsInt()
  page!: number;
}

class FilterDto {
  @IsInt()
  most!: number;
}

@Controller('things')
class TwoQueries {
  @Tool() @Get() find(@Query() page: PageDto, @Query() filter: FilterDto) {
    return { page, filter };
  }
}

@Controller('things')
class Wild {
  @Tool()
  @Get('*path')
  find() {}
}

@Controller('things')
class UnknownBody {
  @Tool()
  @Post()
  find(@Body() _body: unknown) {}
}

@Controller('things')
class UnknownField {
  @Tool()
  @Post()
  find(@Body('name') _name: unknown) {}
}

@Controller('things')
class UnknownQuery {
  @Tool()
  @Get()
  find(@Query() _query: object) {}
}

@Controller('things')
class UnknownItems {
  @Tool()
  @Post()
  find(@Body() _body: NameDto[]) {}
}

@Controller('things')
class Stray {
  @Tool()
  @Get()
  find(@Param('id') _id: string) {}
}

@Controller('things')
class Renamed {
  @Tool({ params: { nobody: 'somebody' } })
  @Get(':id')
  find(@Param('id') _id: string) {}
}

@Controller('things')
class NoResult {
  @Tool({ outputSchema: true })
  @Get()
  find() {}
}

@Controller('things')
class StrayInput {
  @Tool({ inputSchema: { type: 'object', properties: { other: { type: 'string' } } } })
  @Get(':id')
  find(@Param('id') _id: string) {}
}

@Injectable()
class NoRoute {
  @Tool({ request: true })
  find() {}
}

const REFUSED: Record<string, [Type, RegExp]> = {
  '@Res()': [withParam(Res()), /@Res\(\) answers by itself/],
  '@Next()': [withParam(Next()), /@Next\(\) passes the request on/],
  '@Session()': [withParam(Session()), /@Session\(\) is the session of a browser/],
  '@UploadedFile()': [withParam(UploadedFile()), /@UploadedFile\(\) is a file of a form/],
  '@UploadedFiles()': [withParam(UploadedFiles()), /@UploadedFiles\(\) are files of a form/],
  '@HostParam()': [withParam(HostParam('tenant')), /@HostParam\(\) is read from the host/],
  '@RawBody()': [withParam(RawBody()), /@RawBody\(\) are the bytes/],
  '@Headers()': [withParam(Headers()), /@Headers\(\) passes all headers/],
  "@Headers('x')": [withParam(Headers('x')), /@Tool\(\{ headers: \["x"\] \}\)/],
  '@Req()': [withParam(Req()), /@Tool\(\{ request: true \}\)/],
  '@Args()': [withParam(Args('x')), /@Args\(\) is the body if HTTP calls the route/],
  '@Sse()': [withMethod(Sse()), /@Sse\(\) sends a stream/],
  '@Redirect()': [withMethod(compose(Get(), Redirect('/'))), /@Redirect\(\) answers with another URL/],
  '@Render()': [withMethod(compose(Get(), Render('page'))), /@Render\(\) answers with a page/],
  'equal names': [
    Equal,
    /the path and the body both have "name".*@Tool\(\{ params: \{ "path.name": "pathName" \} \}\)/,
  ],
  'a file without a media type': [Files, /StreamableFile without a media type/],
  'a wildcard': [Wild, /the wildcard in "\/things\/\*path"/],
  'two whole queries': [TwoQueries, /two parameters take the whole query/],
  'an unknown body': [UnknownBody, /the type of @Body\(\) is unknown/],
  'an unknown property of the body': [UnknownField, /the type of @Body\("name"\) is unknown/],
  'an unknown query': [UnknownQuery, /the type of @Query\(\) is unknown/],
  'unknown items': [UnknownItems, /the items of @Body\(\) are unknown/],
  'a variable that the path does not have': [Stray, /its path "\/things" has no ":id"/],
  'a name for nothing': [Renamed, /"params" renames "nobody"/],
  'a result without a class': [NoResult, /"outputSchema: true" needs @ApiOkResponse/],
  'a schema with more than the route reads': [StrayInput, /its "inputSchema" has "other"/],
};

function compose(...decorators: MethodDecorator[]): MethodDecorator {
  return (target, key, descriptor) => decorators.forEach(decorate => void decorate(target, key, descriptor));
}

describe('a route that no tool can serve', () => {
  it.each(Object.entries(REFUSED))('stops the start: %s', async (_, [controller, reason]) => {
    await expect(startApp([], { module: { controllers: [controller] } })).rejects.toThrow(reason);
    await expect(startApp([], { module: { controllers: [controller] } })).rejects.toThrow(/Things|find/);
  });

  it('stops the start: an option of routes on another method', async () => {
    await expect(startApp([NoRoute])).rejects.toThrow(/NoRoute.find: "request" is an option of routes/);
  });
});

describe('a route with an author’s word', () => {
  @Controller('things')
  class Things {
    @Tool({ request: true, headers: ['X-Tenant'], params: { id: 'thing', 'body.name': 'newName' } })
    @Post(':id')
    rename(
      @Param('id') id: string,
      @Body() { name }: NameDto,
      @Headers('x-tenant') tenant: string,
      @Req() { method, url }: { method: string; url: string },
    ) {
      return { id, name, tenant, method, url };
    }
  }

  it('gets its headers, a view of the request and other names', async () => {
    const app = await startApp([], { module: { controllers: [Things] } });
    const client = await app.client({ headers: { 'x-tenant': 'acme' } });
    const { tools } = await client.listTools();
    expect(tools.map(({ inputSchema }) => inputSchema.required)).toEqual([['thing', 'newName']]);
    const result = await client.callTool({ name: 'rename', arguments: { thing: 'a b', newName: 'n' } });
    expect(JSON.parse(textOf(result))).toEqual({
      id: 'a b',
      name: 'n',
      tenant: 'acme',
      method: 'POST',
      url: '/things/a%20b',
    });
    await app.close();
  });
});
