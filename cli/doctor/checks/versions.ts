import process from 'node:process';
import type { Check, Finding } from '../finding.js';
import { isBefore, versionIn } from '../set-up.js';

/** Node of this process, of `.nvmrc` and of the images that the application runs in. */
export const node: Check = setUp => {
  const named = ['.nvmrc', '.node-version'].flatMap(path => {
    const text = setUp.textOf(path);
    return text === undefined ? [] : [[path, text.trim()] as const];
  });
  const images = setUp.deployment.flatMap(({ path, text }) => tagsIn(text).map(tag => [path, tag] as const));
  return [['this process', process.versions.node] as const, ...named, ...images]
    .filter(([, version]) => isBefore(versionIn(version), 20, 19))
    .map(([where, version]): Finding => ({
      heading: 'Node is too old',
      seen: `${where} has Node ${version.replace(/^v/, '')}`,
      remedy: 'Use Node 20.19 or later',
    }));
};

/** The tags of Node's images in a Dockerfile, whose stages may name one several times. */
const tagsIn = (text: string): string[] => [
  ...new Set(Array.from(text.matchAll(/^FROM\s+\S*\bnode:(\d\S*)/gim), ([, tag]) => tag)),
];

export const nest: Check = setUp =>
  ['@nestjs/common', '@nestjs/core'].flatMap((name): Finding[] => {
    const version = setUp.installed(name)?.version;
    if (version === undefined || !isBefore(versionIn(version), 11, 1)) return [];
    return [
      {
        heading: 'Nest is too old',
        seen: `${name} is ${version}`,
        remedy: 'Update the packages of Nest to 11.1 or later',
      },
    ];
  });
