import type { MrtrStore } from 'nestjs-mcp';
import { contracts } from 'nestjs-mcp/testing';

// #region store
/** Put your database in the place of the map, which the nodes share. */
class TableStore implements MrtrStore {
  constructor(
    private readonly table: Map<string, { value: string; until: number }>,
  ) {}

  async set(key: string, value: string, ttlSeconds: number) {
    this.table.set(key, { value, until: Date.now() + ttlSeconds * 1000 });
  }

  async get(key: string) {
    const row = this.table.get(key);
    return row && row.until > Date.now() ? row.value : undefined;
  }

  async claim(key: string, ttlSeconds: number) {
    // One statement of your database, so that one node alone gets true.
    const row = this.table.get(key);
    if (row && row.until > Date.now()) return false;
    this.table.set(key, { value: '', until: Date.now() + ttlSeconds * 1000 });
    return true;
  }
}
// #endregion store

// #region contract
describe('the store', () => {
  const table = new Map();
  const checks = contracts.mrtrStore(() => new TableStore(table));
  it.each(checks)('$name', ({ run }) => run());
});
// #endregion contract
