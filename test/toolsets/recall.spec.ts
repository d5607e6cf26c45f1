import MiniSearch from 'minisearch';
import { ToolIndex } from '../../lib/toolsets/search/tool-index.js';
import { QUESTIONS, TOOLS } from './public-tools.js';

const definitions = TOOLS.map(([name, description, parameters]) => ({
  name,
  description,
  inputSchema: {
    type: 'object' as const,
    properties: Object.fromEntries(parameters.split(' ').map(parameter => [parameter, {}])),
  },
}));

it('finds the right one of a hundred tools among the first five, for 45 of 50 questions', () => {
  expect([TOOLS.length, QUESTIONS.length]).toEqual([100, 50]);
  const index = new ToolIndex(MiniSearch, definitions);
  const missed = QUESTIONS.filter(([question, tool]) => !index.find(question, 5, () => true).includes(tool));
  expect(missed.length).toBeLessThanOrEqual(5);
});
