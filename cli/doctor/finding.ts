import type { SetUp } from './set-up.js';

/** Headings of the page "Troubleshooting", in its section "The set-up of an application". */
export const HEADINGS = [
  'Node is too old',
  'Nest is too old',
  'The packages are not installed',
  'A package is missing',
  'Two copies of a package',
  'TypeScript cannot read its configuration',
  'Decorators are switched off',
  'The build emits no types of parameters',
  'TypeScript cannot import the packages',
  'No module imports McpModule',
  'The server refuses the host of its deployment',
  'The application listens inside its container only',
  'The port is in use',
] as const;

export type Heading = (typeof HEADINGS)[number];

/** One thing that is wrong in a set-up. */
export interface Finding {
  readonly heading: Heading;
  /** What doctor has seen, and where. */
  readonly seen: string;
  readonly remedy: string;
}

export type Check = (setUp: SetUp) => readonly Finding[] | Promise<readonly Finding[]>;
