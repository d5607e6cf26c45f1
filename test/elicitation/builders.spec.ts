import { inputRequest } from 'nestjs-mcp';

const schema = { type: 'object', properties: {} } as const;
const url = 'https://example.com/';

describe('a question that could not be asked is refused when it is made', () => {
  it.each<[string, () => unknown, string]>([
    ['a path', () => inputRequest.elicitUrl({ message: 'Go', url: '/login' }), '"url"'],
    ['a script', () => inputRequest.elicitUrl({ message: 'Go', url: 'javascript:alert(1)' }), '"url"'],
    ['a page without a message', () => inputRequest.elicitUrl({ message: '', url }), '"message"'],
    ['a form without a message', () => inputRequest.elicit({ schema } as never), '"message"'],
    [
      'messages that are no list',
      () => inputRequest.sample({ messages: 'Hi', maxTokens: 5 } as never),
      '"messages"',
    ],
  ])('%s', (_what, make, why) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(why);
  });

  it('and others are not', () => {
    expect(inputRequest.elicitUrl({ message: 'Go', url }).method).toBe('elicitation/create');
    expect(inputRequest.elicit({ message: 'Which?', schema }).method).toBe('elicitation/create');
    expect(inputRequest.sample({ messages: [], maxTokens: 5 }).method).toBe('sampling/createMessage');
  });
});
