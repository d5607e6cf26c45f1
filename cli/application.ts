import type { INestApplication, Type } from '@nestjs/common';
import type * as NestCore from '@nestjs/core';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';

const COMPILE =
  'Compile the application and name the file in its output, such as dist/app.module.js, or register a loader that writes ' +
  "decorator metadata: NODE_OPTIONS='-r ts-node/register'";

/**
 * Starts the application of a module in this process, on no port yet.
 * @param target the module: `dist/app.module.js`, or `dist/app.module.js#OtherModule`
 * @throws Error if the module cannot be loaded, or the application does not start
 */
export async function startApplication(target: string, cwd: string): Promise<INestApplication> {
  const [file, name = 'AppModule'] = target.split('#');
  const path = resolve(cwd, file);
  const requireOfApplication = createRequire(path);
  const module = (await load(file, path, requireOfApplication))[name];
  if (typeof module !== 'function')
    throw new Error(`--module ${target}: the file exports no class ${name}; name it as ${file}#Name`);
  const { NestFactory } = requireOfApplication('@nestjs/core') as typeof NestCore;
  // A server over stdio would read the terminal, and end the application when stdin ends.
  Object.defineProperty(process, 'stdin', { value: new PassThrough(), configurable: true });
  const options = { logger: false, abortOnError: false } as const;
  const adapter = fastifyOf(requireOfApplication);
  const app = adapter
    ? await NestFactory.create(module as Type, adapter, options)
    : await NestFactory.create(module as Type, options);
  try {
    return await app.init();
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
}

async function load(
  file: string,
  path: string,
  requireOfApplication: NodeJS.Require,
): Promise<Record<string, unknown>> {
  try {
    // With `require`, the loaders of ts-node and swc work, and ES modules load, too.
    return requireOfApplication(path) as Record<string, unknown>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A module with an await at its top level.
    if (code === 'ERR_REQUIRE_ASYNC_MODULE')
      return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    const remedy = /\.[cm]?ts$/.test(file) ? `. ${COMPILE}` : '';
    throw new Error(`--module ${file} cannot be loaded: ${message.split('\n')[0]}${remedy}`, {
      cause: error,
    });
  }
}

/** The adapter of an application that has only Fastify; Nest chooses Express by itself. */
function fastifyOf(requireOfApplication: NodeJS.Require): NestCore.AbstractHttpAdapter | undefined {
  const has = (name: string) => {
    try {
      return requireOfApplication.resolve(name) !== '';
    } catch {
      return false;
    }
  };
  if (has('@nestjs/platform-express') || !has('@nestjs/platform-fastify')) return undefined;
  const { FastifyAdapter } = requireOfApplication('@nestjs/platform-fastify') as {
    FastifyAdapter: new () => NestCore.AbstractHttpAdapter;
  };
  return new FastifyAdapter();
}
