import { dirname, join } from 'node:path';
import { isFile } from './files.js';

const LOCKS = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'package-lock.json': 'npm' } as const;

type PackageManager = (typeof LOCKS)[keyof typeof LOCKS];

/** The package manager of the nearest lock file: in a workspace, it is above the application. Default: npm. */
export function packageManagerOf(folder: string): PackageManager {
  for (const [file, manager] of Object.entries(LOCKS)) if (isFile(join(folder, file))) return manager;
  return dirname(folder) === folder ? 'npm' : packageManagerOf(dirname(folder));
}
