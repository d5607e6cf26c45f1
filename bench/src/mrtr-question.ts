/** What is asked, as JSON Schema that is made once, as an application has it. */
export const QUESTION = {
  message: 'Where is it to go?',
  schema: {
    type: 'object',
    properties: { region: { type: 'string', enum: ['eu', 'us'] } },
    required: ['region'],
  },
} as const;
export const ANSWER = { action: 'accept', content: { region: 'eu' } } as const;

export const SECRET = 'a secret of more than thirty-two bytes';
