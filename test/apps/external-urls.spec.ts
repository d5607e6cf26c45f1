import { Injectable, Logger } from '@nestjs/common';
import { App, McpAppsModule } from 'nestjs-mcp/apps';
import { refusedUrlsIn } from '../../lib/apps/external-urls.js';
import { startApp } from '../fixtures/matrix.js';

const CDN = 'https://cdn.example.com';

describe('what a view loads from elsewhere', () => {
  it.each([
    ['a script', `<script type="module" src="${CDN}/a.js"></script>`, 'resourceDomains'],
    ['an image without quotes', `<img alt=x src=${CDN}/a.png>`, 'resourceDomains'],
    ['a style over two lines', `<LINK rel="stylesheet"\n  HREF='${CDN}/a.css'>`, 'resourceDomains'],
    ['a URL without a scheme', '<img src="//cdn.example.com/a.png">', 'resourceDomains'],
    ['a frame', `<iframe src="${CDN}/f.html"></iframe>`, 'frameDomains'],
    ['a base', `<base href="${CDN}/">`, 'baseUriDomains'],
  ])('%s needs an option', (_, html, option) => {
    expect(refusedUrlsIn(html)).toEqual([{ url: expect.stringContaining('cdn.example.com'), option }]);
    expect(refusedUrlsIn(html, { [option]: ['https://other.example'] })).toHaveLength(1);
    for (const source of [CDN, `${CDN}/`, 'https://*.example.com', 'https:', '*']) {
      expect(refusedUrlsIn(html, { [option]: [source] })).toEqual([]);
    }
  });

  it.each([
    ['a link to follow', `<a href="${CDN}/">more</a>`],
    ['what is inline', '<script>start()</script><img src="data:image/png;base64,AA==">'],
    ['a comment', `<!-- <script src="${CDN}/a.js"></script> -->`],
    ['a path', '<script src="/a.js"></script>'],
    ['a placeholder', '<script src="https://[host]/a.js"></script>'],
  ])('%s does not', (_, html) => {
    expect(refusedUrlsIn(html)).toEqual([]);
    expect(refusedUrlsIn(html, { resourceDomains: [CDN] })).toEqual([]);
  });

  it('is a warning at the start', async () => {
    @App({
      uri: 'ui://shop/map',
      html: `<!doctype html><script src="${CDN}/map.js"></script><img src="https://tiles.example/1.png">`,
      csp: { resourceDomains: [CDN] },
    })
    @Injectable()
    class ShopMap {}
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const app = await startApp([ShopMap], { module: { imports: [McpAppsModule.forRoot()] } });
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/ShopMap.*https:\/\/tiles\.example\/1\.png.*"csp\.resourceDomains"/)],
    ]);
    warn.mockRestore();
    await app.close();
  });
});
