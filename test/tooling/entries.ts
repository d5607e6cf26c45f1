import { join } from 'node:path';

export const LIB = join(__dirname, '../../lib');

/** The folders of the package's entries; the main entry first. */
export const ENTRIES = [
  '.',
  'apps',
  'auth',
  'client',
  'explorer',
  'gateway',
  'interceptors',
  'redis',
  'skills',
  'tasks',
  'telemetry',
  'testing',
  'toolsets',
];
