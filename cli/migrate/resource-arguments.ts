import type { MethodDeclaration, ObjectLiteralExpression, ParameterDeclaration } from 'ts-morph';
import { literalOf, usesOf, valueOf, type FileJob } from './file-job.js';
import { decorate, remove } from './handlers.js';

export type Kind = 'tool' | 'prompt' | 'resource' | 'template';

/**
 * The first parameter of a resource was `{ uri, …variables }`. The variables come from `@UriParams()`, and the URI is the
 * option or is made from the template.
 */
export function convertArguments(
  job: FileJob,
  method: MethodDeclaration,
  parameter: ParameterDeclaration,
  kind: 'resource' | 'template',
  options: ObjectLiteralExpression | undefined,
): void {
  const { Node } = job.morph;
  const text = options && valueOf(job.morph, options, kind === 'resource' ? 'uri' : 'uriTemplate');
  const pattern = literalOf(text);
  const name = parameter.getNameNode();
  if (Node.isObjectBindingPattern(name)) {
    const bindings = name.getElements().map(one => ({
      key: one.getPropertyNameNode()?.getText() ?? one.getName(),
      local: one.getName(),
      text: one.getText(),
    }));
    const uri = bindings.find(({ key }) => key === 'uri');
    const variables = bindings.filter(one => one !== uri);
    const missing =
      kind === 'resource'
        ? []
        : variablesOf(pattern ?? '').filter(one => !variables.some(({ key }) => key === one));
    if (uri && usesOf(job.morph, method.getBody(), uri.local).length > 0) {
      const value =
        kind === 'resource'
          ? text
          : expandedOf(pattern, key => variables.find(one => one.key === key)?.local ?? key);
      if (value !== undefined) {
        method.insertStatements(0, `const ${uri.local} = ${value};`);
        variables.push(...missing.map(key => ({ key, local: key, text: key })));
      } else job.note(method, `make "${uri.local}" from the variables: a template gets no URI`);
    }
    if (kind === 'resource') {
      if (variables.length > 0)
        job.note(method, 'a resource has no variables: make this a @ResourceTemplate()');
      return remove(job, parameter);
    }
    if (variables.length === 0) return remove(job, parameter);
    name.replaceWithText(`{ ${variables.map(one => one.text).join(', ')} }`);
    const type = parameter.getTypeNode();
    if (type && Node.isTypeLiteral(type)) {
      type.getProperty('uri')?.remove();
      for (const one of missing.filter(key => !type.getProperty(key)))
        if (variables.some(({ key }) => key === one)) type.addProperty({ name: one, type: 'string' });
    }
    return decorate(job, parameter, 'UriParams');
  }
  const uses = usesOf(job.morph, method.getBody(), name.getText());
  if (uses.length === 0) return remove(job, parameter);
  if (kind === 'resource') {
    method.insertStatements(0, `const ${name.getText()} = { uri: ${text ?? "''"} };`);
    return remove(job, parameter);
  }
  const uriUses = uses
    .map(one => one.getParent())
    .filter(one => one !== undefined && one.getText() === `${name.getText()}.uri`);
  for (const one of uriUses) {
    const value = expandedOf(pattern, key => `${name.getText()}.${key}`);
    if (value !== undefined) one?.replaceWithText(value);
    else job.note(method, `make "${name.getText()}.uri" from the variables: a template gets no URI`);
  }
  decorate(job, parameter, 'UriParams');
}

const variablesOf = (template: string): string[] =>
  [...template.matchAll(/\{\+?(\w+)\}/g)].map(([, name]) => name);

/** The text of a template literal that makes the URI; undefined for a template with other operators. */
function expandedOf(template: string | undefined, local: (name: string) => string): string | undefined {
  if (template === undefined || /\{(?!\+?\w+\})/.test(template)) return undefined;
  const text = template.replaceAll(/\{(\+?)(\w+)\}/g, (_, raw: string, name: string) =>
    raw ? `\${${local(name)}}` : `\${encodeURIComponent(${local(name)})}`,
  );
  return `\`${text}\``;
}
