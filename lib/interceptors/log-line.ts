const MAX_LENGTH = 4096;

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A line for the log, whatever others have put into it: it stays one line, and has an end. */
export function logLine(text: string): string {
  const shown = text.slice(0, MAX_LENGTH).replace(UNPRINTABLE, escaped);
  const more = text.length - MAX_LENGTH;
  return more > 0 ? `${shown}… (${more} more characters)` : shown;
}

function escaped(character: string): string {
  const json = JSON.stringify(character).slice(1, -1);
  return json === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : json;
}
