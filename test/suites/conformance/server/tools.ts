import { setTimeout } from 'node:timers/promises';
import { ConflictException, Injectable } from '@nestjs/common';
import { Args, Ctx, Tool, type McpContext } from 'nestjs-mcp';
import { of, type Observable } from 'rxjs';
import { RED_PIXEL, SILENCE, WATCHED } from './fixtures.js';

/** Tools for each kind of content, and for what a tool can send while it runs. */
@Injectable()
export class Tools {
  @Tool({ name: 'test_simple_text', description: 'Answers with one text' })
  simpleText() {
    return 'This is a simple text response for testing.';
  }

  @Tool({ name: 'test_image_content', description: 'Answers with one image' })
  image() {
    return { type: 'image', data: RED_PIXEL, mimeType: 'image/png' };
  }

  @Tool({ name: 'test_audio_content', description: 'Answers with one sound' })
  audio() {
    return { type: 'audio', data: SILENCE, mimeType: 'audio/wav' };
  }

  @Tool({ name: 'test_embedded_resource', description: 'Answers with the contents of a resource' })
  embeddedResource() {
    const resource = {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    };
    return { type: 'resource', resource };
  }

  @Tool({ name: 'test_multiple_content_types', description: 'Answers with a text, an image and a resource' })
  mixedContent() {
    return [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: RED_PIXEL, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ];
  }

  @Tool({ name: 'test_tool_with_logging', description: 'Sends three log messages' })
  async logging(@Ctx() ctx: McpContext) {
    await ctx.log.info('Tool execution started');
    await ctx.log.info('Tool processing data');
    await ctx.log.info('Tool execution completed');
    return 'Three messages were logged';
  }

  @Tool({
    name: 'test_reconnection',
    description: 'Ends its connection, and answers the client that comes back',
  })
  async reconnection(@Ctx() ctx: McpContext) {
    ctx.closeStream(100);
    await setTimeout(100, undefined, { signal: ctx.signal });
    return 'The client has come back';
  }

  @Tool({ name: 'test_tool_with_progress', description: 'Reports progress three times' })
  progress(): Observable<unknown> {
    return of(
      { progress: 0, total: 100 },
      { progress: 50, total: 100 },
      { progress: 100, total: 100 },
      'Progress was reported up to 100',
    );
  }

  @Tool({ name: 'test_error_handling', description: 'Always fails' })
  failure(): never {
    throw new ConflictException('This tool intentionally returns an error for testing');
  }

  @Tool({
    name: 'touch_watched_resource',
    description: 'Tells subscribers that the watched resource changed',
  })
  touch(@Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated(WATCHED);
    return `${WATCHED} was touched`;
  }

  @Tool({
    name: 'test_x_mcp_header',
    description: 'Takes a region, which the request repeats in the Mcp-Param-Region header',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
    },
  })
  headerParameter(@Args('region') region = 'nowhere') {
    return `region=${region}`;
  }

  @Tool({
    name: 'json_schema_2020_12_tool',
    description: 'Takes arguments described with keywords of JSON Schema 2020-12',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  })
  contact(@Args() args: object) {
    return `Called with ${JSON.stringify(args)}`;
  }
}
