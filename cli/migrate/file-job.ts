import type * as Morphs from 'ts-morph';
import type { Identifier, ImportSpecifier, Node, ObjectLiteralExpression, SourceFile } from 'ts-morph';

/** The application's `ts-morph`. */
export type Morph = typeof Morphs;

export const PEERS = ['@rekog/mcp-nest', '@nestjs/mcp'] as const;

/** The names of 2.x that come from Nest's own package. */
const MICROSERVICES = '@nestjs/microservices';

/** Packages of which only types are imported. */
const TYPES_ONLY = ['express', '@modelcontextprotocol/server'];

/** How a comment for a human begins. */
export const COMMENT = '// nestjs-mcp: ';

/** One file during its conversion: what it imports from the peers, and what is added to it at the end. */
export class FileJob {
  /** Automatic changes. */
  changes = 0;
  /** Comments for a human. */
  comments = 0;

  private readonly imported = new Map<string, string>();
  private readonly wanted = new Map<string, Set<string>>();
  private readonly notes: { readonly node: Node; readonly text: string }[] = [];

  constructor(
    readonly morph: Morph,
    readonly file: SourceFile,
  ) {
    for (const { specifier, from } of this.specifiers())
      this.imported.set(
        localOf(specifier),
        `${from === MICROSERVICES ? 'microservices ' : ''}${specifier.getName()}`,
      );
  }

  /** Whether the file imports from a peer. */
  get isConcerned(): boolean {
    return this.specifiers().some(({ from }) => from !== MICROSERVICES);
  }

  /** Whether the official package is the peer of this file. */
  get isOfficial(): boolean {
    return this.specifiers().some(({ from }) => from === '@nestjs/mcp');
  }

  /** The name under which a peer exports what the file calls `local`. Nest's names have the prefix `microservices `. */
  peerName(local: string): string | undefined {
    return this.imported.get(local);
  }

  /** Whether the file imports the name from a peer. */
  imports(...names: string[]): boolean {
    return [...this.imported.values()].some(name => names.includes(name));
  }

  /** Imports of the peers, and of Nest's microservices. */
  specifiers(): { specifier: ImportSpecifier; from: string }[] {
    return this.file
      .getImportDeclarations()
      .map(one => ({ one, from: one.getModuleSpecifierValue() }))
      .filter(({ from }) => (PEERS as readonly string[]).includes(from) || from === MICROSERVICES)
      .flatMap(({ one, from }) => one.getNamedImports().map(specifier => ({ specifier, from })));
  }

  /** Counts a change, and has the names imported that it needs. */
  changed(names: readonly string[] = [], from = 'nestjs-mcp'): void {
    this.changes += 1;
    for (const name of names) this.wanted.set(from, (this.wanted.get(from) ?? new Set()).add(name));
  }

  /** Whether the conversion imports the name from this package. */
  takes(name: string): boolean {
    return [...this.wanted].some(([from, names]) => from.startsWith('nestjs-mcp') && names.has(name));
  }

  /** Has a comment written above the statement, the member or the property of the node. */
  note(node: Node, text: string): void {
    const anchor = this.anchorOf(node);
    if (!this.notes.some(one => one.node === anchor && one.text === text))
      this.notes.push({ node: anchor, text });
  }

  /** Writes the imports and the comments. */
  finish(): void {
    for (const [from, names] of this.wanted) this.addImport(from, [...names]);
    this.writeComments();
  }

  private addImport(from: string, names: string[]): void {
    const used = names.filter(name => this.isUsed(name));
    const declared = this.file.getImportDeclarations().filter(one => one.getModuleSpecifierValue() === from);
    const known = declared.flatMap(one => one.getNamedImports().map(localOf));
    const missing = used.filter(name => !known.includes(name));
    if (missing.length === 0) return;
    const open = declared.find(
      one => one.isTypeOnly() === TYPES_ONLY.includes(from) && !one.getNamespaceImport(),
    );
    if (open) return void open.addNamedImports(missing);
    const imports = this.file.getImportDeclarations();
    this.file.insertImportDeclaration(
      imports.findLastIndex(one => !one.getModuleSpecifierValue().startsWith('.')) + 1,
      { namedImports: missing, moduleSpecifier: from, isTypeOnly: TYPES_ONLY.includes(from) },
    );
  }

  isUsed(name: string): boolean {
    const { SyntaxKind, Node } = this.morph;
    return this.file
      .getDescendantsOfKind(SyntaxKind.Identifier)
      .some(one => one.getText() === name && !one.getFirstAncestor(Node.isImportDeclaration));
  }

  private writeComments(): void {
    const lines = this.file.getFullText().split('\n');
    const inserts = this.notes
      .filter(({ node }) => !node.wasForgotten())
      .map(({ node, text }) => ({ line: node.getStartLineNumber(), text: COMMENT + text }))
      .sort((a, b) => b.line - a.line);
    for (const { line, text } of inserts) {
      const above = lines.slice(Math.max(0, line - 6), line - 1).map(one => one.trim());
      if (above.includes(text)) continue;
      const [indentation] = /^\s*/.exec(lines[line - 1] ?? '')!;
      lines.splice(line - 1, 0, indentation + text);
      this.comments += 1;
    }
    if (this.comments > 0) this.file.replaceWithText(lines.join('\n'));
  }

  private anchorOf(node: Node): Node {
    const { Node } = this.morph;
    const isAnchor = (one: Node) =>
      Node.isStatement(one) ||
      Node.isMethodDeclaration(one) ||
      Node.isPropertyDeclaration(one) ||
      (Node.isPropertyAssignment(one) && one.getStartLineNumber() !== one.getParent().getStartLineNumber());
    return isAnchor(node) ? node : (node.getFirstAncestor(isAnchor) ?? node);
  }
}

const localOf = (specifier: ImportSpecifier): string =>
  specifier.getAliasNode()?.getText() ?? specifier.getName();

/** The properties of an object by their names, without spreads. */
export function propertyOf(morph: Morph, object: ObjectLiteralExpression, name: string) {
  return object
    .getProperties()
    .find(one => !morph.Node.isSpreadAssignment(one) && nameOf(one.getName()) === name);
}

/** The text of the value of a property; undefined without the property. */
export function valueOf(morph: Morph, object: ObjectLiteralExpression, name: string): string | undefined {
  const property = propertyOf(morph, object, name);
  if (property && morph.Node.isPropertyAssignment(property))
    return property.getInitializerOrThrow().getText();
  return property && morph.Node.isShorthandPropertyAssignment(property) ? name : undefined;
}

/** The text of a literal; undefined for another expression. */
export const literalOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : /^(['"`])([^'"`$]*)\1$/.exec(text)?.[2];

const nameOf = (text: string) => text.replace(/^['"]|['"]$/g, '');

/** Uses of the name in a node, without the names of properties. */
export function usesOf(morph: Morph, node: Node | undefined, name: string): Identifier[] {
  const { Node, SyntaxKind } = morph;
  return (node?.getDescendantsOfKind(SyntaxKind.Identifier) ?? []).filter(one => {
    const parent = one.getParent();
    return (
      one.getText() === name &&
      !(Node.isPropertyAccessExpression(parent) && parent.getNameNode() === one) &&
      !(Node.isPropertyAssignment(parent) && parent.getNameNode() === one)
    );
  });
}

/** A text of several lines without the indentation of the line that it was taken from: `ts-morph` indents what it writes. */
export const outdented = (text: string, indentation: string): string =>
  indentation === '' ? text : text.replaceAll(`\n${indentation}`, '\n');
