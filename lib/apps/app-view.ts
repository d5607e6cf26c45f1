import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { APP_MIME_TYPE } from './app-context.js';
import { uiMetaOf, type AppOptions } from './app-options.js';
import { refusedUrlsIn, type RefusedUrl } from './external-urls.js';

export class AppView {
  private html?: string;
  private changedAt?: number;

  constructor(readonly options: AppOptions & { readonly listed: boolean }) {}

  /** Reads the file of the view. @throws Error if that fails */
  load(): void {
    const { file } = this.options;
    if (file === undefined) return;
    const path = resolve(file);
    this.changedAt = statSync(path).mtimeMs;
    this.html = readFileSync(path, 'utf8');
  }

  /** The HTML that is known before the first read. Undefined for a view that a method returns. */
  get known(): string | undefined {
    return this.options.html ?? this.html;
  }

  /** What hosts will not load. Empty for a view that a method returns. */
  refusedUrls(): readonly RefusedUrl[] {
    return refusedUrlsIn(this.known ?? '', this.options.csp);
  }

  /** @param app the instance of the class */
  async read(app: object): Promise<ReadResourceResult> {
    const { uri } = this.options;
    const ui = uiMetaOf(this.options);
    const meta = Object.keys(ui).length > 0 && { _meta: { ui } };
    return { contents: [{ uri, mimeType: APP_MIME_TYPE, text: await this.htmlOf(app), ...meta }] };
  }

  private async htmlOf(app: object): Promise<string> {
    const { file, html, method } = this.options;
    if (html !== undefined) return html;
    if (method !== undefined) return (app as Record<string, () => string | Promise<string>>)[method]();
    if (this.html === undefined || this.isChanged(resolve(file!))) this.load();
    return this.html!;
  }

  private isChanged(path: string): boolean {
    return process.env['NODE_ENV'] !== 'production' && statSync(path).mtimeMs !== this.changedAt;
  }
}
