/** An argument that clients repeat in the HTTP header `Mcp-Param-<name>`. */
export interface HeaderParam {
  /** Compared without case. */
  readonly name: string;
  /** The property names that lead to the value. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}
