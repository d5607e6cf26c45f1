import type { Sent } from '../send.js';
import { ANYTHING, callTool, modern } from './request.js';

const ANSWERS = [
  { action: 'accept', content: { name: 'eu' } },
  { action: 'accept', content: { name: 1 } },
  { action: 'accept' },
  { action: 'decline' },
  { action: 'cancel' },
  { roots: [{ uri: 'file:///a' }] },
  { roots: [] },
  { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' },
  ...ANYTHING,
];
const ASKING = ['askByException', 'askByAwait', 'askByReturning', 'askForState'];

/** What a client brings back from an earlier round: `<state of …>` stands for what the named tool has handed out. */
export const ROUND_CASES: readonly Sent[] = [
  ...ASKING.flatMap(name => [
    ...ANSWERS.flatMap(answer => [
      callTool(name, {}, { inputResponses: { region: answer } }),
      callTool(
        name,
        {},
        { inputResponses: { region: answer, roots: answer }, requestState: `<state of ${name}>` },
      ),
      callTool(name, {}, { inputResponses: { ['__proto__']: answer, é: answer, '': answer } }),
    ]),
    ...ANYTHING.flatMap(value => [
      callTool(name, {}, { inputResponses: value }),
      callTool(name, {}, { requestState: value }),
    ]),
    ...['askByAwait', 'askForState'].map(other =>
      callTool(name, {}, { requestState: `<state of ${other}>` }),
    ),
  ]),
  ...ANYTHING.flatMap(inputResponses => [
    modern('prompts/get', { name: 'askingPrompt', inputResponses }),
    modern('resources/read', { uri: 'config://asking', inputResponses }),
    modern('tools/list', { inputResponses }),
    modern('subscriptions/listen', { notifications: {}, inputResponses }),
  ]),
];
