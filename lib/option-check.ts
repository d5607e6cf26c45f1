import { McpBootstrapError } from './exceptions/mcp-bootstrap.error.js';

/** Asserts what options have to be, and says what is wrong with those that are not. */
export interface Check {
  (holds: boolean, problem: string): void;
  count(value: unknown, name: string, max?: number): void;
  known(value: object, names: readonly string[], group?: string): void;
}

/** @param where what the errors name */
export function checker(where: string): Check {
  const check = (holds: boolean, problem: string) => {
    if (!holds) throw new McpBootstrapError(where, problem);
  };
  return Object.assign(check, {
    count: (value: unknown, name: string, max = Number.MAX_SAFE_INTEGER) => {
      const upTo = max < Number.MAX_SAFE_INTEGER ? `, up to ${max}` : '';
      check(
        Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= max,
        `"${name}" must be a whole number above 0${upTo}`,
      );
    },
    known: (value: object, names: readonly string[], group?: string) => {
      const unknown = Object.keys(value).find(name => !names.includes(name));
      const full = group === undefined ? unknown : `${group}.${unknown}`;
      check(unknown === undefined, `unknown option "${full}"; known are ${names.join(', ')}`);
    },
  });
}
