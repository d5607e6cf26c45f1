import { testCalls } from './table.js';

// A handler runs again, waits, or cannot ask at all: every row is another one for each.
describe.each(['modern HTTP', '2025 session', '2025 stateless'] as const)(
  'calls with several rounds, over %s',
  name => testCalls(name),
);
