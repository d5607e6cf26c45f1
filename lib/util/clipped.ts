/** The beginning of a text, copied: the result of `slice` keeps the whole text alive. */
export const clipped = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : Buffer.from(text.slice(0, maxLength), 'utf16le').toString('utf16le');
