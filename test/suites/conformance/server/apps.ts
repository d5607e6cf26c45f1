import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { App } from 'nestjs-mcp/apps';

/** A view with everything that a host can be told of it. */
@App({
  uri: 'ui://test/view',
  html: '<!doctype html><html lang="en"><head><title>View</title></head><body></body></html>',
  csp: { connectDomains: ['https://api.example.com'], resourceDomains: ['https://cdn.example.com'] },
  permissions: ['clipboardWrite'],
  prefersBorder: true,
})
@Injectable()
export class Apps {
  @Tool({ name: 'test_app', description: 'Shows a view', ui: 'ui://test/view' })
  show(@Args('text') text: string) {
    return text;
  }

  @Tool({ name: 'test_app_only', description: 'Is for the view alone', ui: { visibility: ['app'] } })
  change() {
    return 'changed';
  }
}
