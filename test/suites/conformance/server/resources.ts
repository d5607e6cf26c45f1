import { Injectable } from '@nestjs/common';
import { Resource, ResourceTemplate, UriParams } from 'nestjs-mcp';
import { RED_PIXEL, WATCHED } from './fixtures.js';

@Injectable()
export class Resources {
  @Resource({
    uri: 'test://static-text',
    name: 'static-text',
    description: 'A text that does not change',
    mimeType: 'text/plain',
  })
  text() {
    return 'This is the content of the static text resource.';
  }

  @Resource({
    uri: 'test://static-binary',
    name: 'static-binary',
    description: 'An image that does not change',
    mimeType: 'image/png',
  })
  binary() {
    return Buffer.from(RED_PIXEL, 'base64');
  }

  @Resource({
    uri: WATCHED,
    name: 'watched-resource',
    description: 'A text to subscribe to',
    mimeType: 'text/plain',
  })
  watched() {
    return 'Watched resource content';
  }

  @ResourceTemplate({
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'Data for each id',
    mimeType: 'application/json',
  })
  template(@UriParams('id') id: string) {
    return { id, templateTest: true, data: `Data for ID: ${id}` };
  }
}
