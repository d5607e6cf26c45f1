import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpErrorCode, McpException, McpServerRegistry, Tool } from 'nestjs-mcp';

/** A library of tools, which is loaded as ESM by a CommonJS application. */
@Injectable()
export class LibraryTools {
  constructor(private readonly registry: McpServerRegistry) {}

  @Tool()
  same(@Ctx() ctx: McpContext) {
    return `${ctx instanceof McpContext}, ${this.registry instanceof McpServerRegistry}`;
  }

  @Tool()
  refuse() {
    throw new McpException(McpErrorCode.Refused, 'The shop is closed');
  }
}
