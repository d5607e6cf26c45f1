/** The lines of each tool of a surface: its name, then one indented line for each part. */
function toolsIn(text: string): Map<string, readonly string[]> {
  const blocks = text
    .split(/\r?\n(?=\S)/)
    .map(block => block.split(/\r?\n/).filter(line => line.trim() !== ''));
  return new Map(blocks.filter(lines => lines.length > 0).map(([name, ...parts]) => [name, parts]));
}

/** The tools that differ, with `-` before what is gone and `+` before what is new. Empty if none does. */
export function differencesOf(before: string, after: string): string {
  const [old, current] = [toolsIn(before), toolsIn(after)];
  const names = [...new Set([...old.keys(), ...current.keys()])].sort();
  return names.map(name => differencesOfTool(name, old.get(name), current.get(name))).join('');
}

function differencesOfTool(name: string, before?: readonly string[], after?: readonly string[]): string {
  const gone = (before ?? []).filter(line => !after?.includes(line));
  const added = (after ?? []).filter(line => !before?.includes(line));
  const sign = before === undefined ? '+' : after === undefined ? '-' : ' ';
  if (sign === ' ' && gone.length + added.length === 0) return '';
  const lines = [`${sign} ${name}`, ...gone.map(line => `- ${line}`), ...added.map(line => `+ ${line}`)];
  return `${lines.join('\n')}\n`;
}
