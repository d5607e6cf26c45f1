import type { Values } from '../template.js';

/** What differs between the specs of handlers. */
interface Body {
  /** What the class does, before "a %s client". */
  readonly does: string;
  /** Names of `nestjs-mcp/testing`, beside `createTestClient`. */
  readonly helpers?: readonly string[];
  /** Import lines, each with a line break. */
  readonly imports?: string;
  /** Further modules of the application. */
  readonly modules?: string;
  /** Further providers of the application. */
  readonly providers?: string;
  /** Declarations before the tests. */
  readonly declarations?: string;
  /** Statements of the test. */
  readonly code: string;
}

/** A spec that calls the class with a client of each era. */
export function specOf(
  { className, specifier }: Values,
  { does, helpers = [], imports = '', modules = '', providers = '', declarations = '', code }: Body,
): string {
  return `import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
${imports}import { ${['createTestClient', ...helpers].join(', ')} } from 'nestjs-mcp/testing';
import { ${className} } from '${specifier}';
${declarations}
describe('${className}', () => {
  let app: INestApplication;

  beforeEach(async () => {
    const testing = await Test.createTestingModule({
      imports: [McpModule.forRoot({ name: 'test', version: '1.0.0' })${modules}],
      providers: [${className}${providers}],
    }).compile();
    app = testing.createNestApplication();
  });

  afterEach(() => app.close());

  it.each(['modern', 'legacy'] as const)('${does} a %s client', async (era) => {
    const client = await createTestClient(app, { era });
${code.trim().replace(/^(?=.)/gm, '    ')}
    await client.close();
  });
});
`;
}

/** The import line of the main entry. */
export const MAIN = "import { McpModule } from 'nestjs-mcp';\n";
