/** A place where browsers have to guess what the HTML means. */
export interface HtmlError {
  readonly line: number;
  /** The code of the error in the HTML standard, such as `duplicate-attribute`. */
  readonly code: string;
}

export type FindHtmlErrors = (html: string) => HtmlError[];

/**
 * Loads the parser that finds errors in HTML.
 * @returns undefined in production, and without the optional package `parse5`
 */
export async function loadHtmlParser(): Promise<FindHtmlErrors | undefined> {
  if (process.env['NODE_ENV'] === 'production') return undefined;
  try {
    const { parse } = await import('parse5');
    return html => {
      const errors: HtmlError[] = [];
      parse(html, { onParseError: ({ startLine: line, code }) => errors.push({ line, code }) });
      return errors;
    };
  } catch {
    return undefined;
  }
}
