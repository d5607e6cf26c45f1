// A tool, a resource and a prompt, served over HTTP on `PORT` (default: 3000) to clients of every revision.
// With `--stdio` it talks over stdin and stdout instead, as a host that starts its servers by itself expects.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  if (process.argv.includes('--stdio')) {
    await NestFactory.createApplicationContext(AppModule);
    return;
  }
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  const url = `http://localhost:${new URL(await app.getUrl()).port}/mcp`;
  console.log(
    `MCP endpoint: ${url}  (npx @modelcontextprotocol/inspector@latest --cli ${url} --method tools/list)`,
  );
}

void bootstrap();
