import { Injectable, NotFoundException } from '@nestjs/common';
import {
  Args,
  Completion,
  Ctx,
  McpContext,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';

@Injectable()
export class Avatars {
  read(id: string) {
    if (id !== '7') throw new NotFoundException(`No user ${id}`);
    return Buffer.from('picture');
  }

  idsStartingWith(typed: string) {
    return ['7', '71'].filter(id => id.startsWith(typed));
  }
}

// #region resources
@Injectable()
export class Users {
  constructor(private readonly avatars: Avatars) {}

  @Resource({ uri: 'config://app', mimeType: 'application/json' })
  config() {
    return { debug: false }; // JSON
  }

  @ResourceTemplate({
    uriTemplate: 'users://{id}/avatar',
    mimeType: 'image/png',
  })
  avatar(@UriParams('id') id: string) {
    return this.avatars.read(id); // bytes
  }

  @Completion({ resourceTemplate: 'users://{id}/avatar', argument: 'id' })
  ids(typed: string) {
    return this.avatars.idsStartingWith(typed);
  }
}
// #endregion resources

export class Config {
  debug = false;

  // #region updated
  @Tool()
  setDebug(@Args('on') on: boolean, @Ctx() ctx: McpContext) {
    this.debug = on;
    ctx.sendResourceUpdated('config://app');
    return `debug is ${on}`;
  }
  // #endregion updated
}
