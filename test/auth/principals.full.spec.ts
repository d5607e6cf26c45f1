import type { TestApp } from '../fixtures/matrix.js';
import { describePrincipals, startNode } from './principals.js';

describe('two principals on one node', () => {
  let node: TestApp;
  beforeEach(async () => {
    node = await startNode();
  });
  afterEach(() => node.close());

  describePrincipals(() => [node]);
});
