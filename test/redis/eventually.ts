import { setTimeout as pause } from 'node:timers/promises';

/** Repeats a check of another process until it passes. @throws the last error, after `timeoutMs` */
export async function eventually(check: () => void | Promise<void>, timeoutMs = 30_000): Promise<void> {
  for (const end = Date.now() + timeoutMs; ; await pause(50)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
