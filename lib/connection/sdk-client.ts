import type * as Sdk from '@modelcontextprotocol/client';
import { missingPackage } from '../exceptions/missing-package.js';
import { answerWatchingTransport } from './answer-watch.js';
import { headerParameterClient } from './header-parameter-client.js';
import { taskClient } from './task-client.js';

type SdkClient = Awaited<ReturnType<typeof load>>;

let loaded: SdkClient | undefined;

/**
 * Loads the SDK's client, which is an optional package, and the classes that extend it.
 * @throws McpBootstrapError if it is not installed
 */
export async function loadSdkClient(where: string): Promise<SdkClient> {
  return (loaded ??= await load(where));
}

async function load(where: string) {
  try {
    // The ES and the CommonJS build declare their types separately.
    const sdk = (await import('@modelcontextprotocol/client')) as unknown as typeof Sdk;
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    return {
      TaskClient: taskClient(sdk),
      StreamableHTTPClientTransport: sdk.StreamableHTTPClientTransport,
      StdioClientTransport,
      HeaderParameterClient: headerParameterClient(sdk),
      AnswerWatchingTransport: answerWatchingTransport(sdk),
    };
  } catch (error) {
    throw missingPackage(where, '@modelcontextprotocol/client', error);
  }
}
