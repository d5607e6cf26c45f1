import type { ModuleEntry } from './module-file.js';
import type { Names } from './names.js';

/** What a template fills in. */
export interface Values extends Names {
  /** The name of the class, such as `SearchTool`. */
  readonly className: string;
  /** How files of the folder import the class, such as `./search.tool`, or `./search.tool.js` in an ES module. */
  readonly specifier: string;
}

/** One kind of class that can be generated. */
export interface Template {
  /** The ending of the class and of its file: `tool` for `SearchTool` in `search.tool.ts`. */
  readonly type: string;
  /** Where a module lists the class. */
  readonly metadata: 'controllers' | 'providers';
  /** Modules that the class needs. The application imports each of them once. */
  readonly modules?: readonly ModuleEntry[];
  /** Packages that the class needs, beside those of each Nest application. */
  readonly packages?: readonly string[];
  source(values: Values): string;
  spec(values: Values): string;
}
