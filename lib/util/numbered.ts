/** One sentence as it is; several as a numbered list, one in each line. */
export const numbered = (sentences: readonly string[]): string =>
  sentences.length === 1
    ? sentences[0]
    : [`${sentences.length} mistakes`, ...sentences.map((one, index) => `${index + 1}. ${one}`)].join('\n');
