const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;

/** As the specification recommends. @throws Error */
export function checkToolName(name: string): void {
  if (!TOOL_NAME.test(name)) {
    throw new Error(
      `"${name}" is no tool name: use 1 to 128 letters, digits, "_", "-", "." or "/" (the "name" option)`,
    );
  }
}
