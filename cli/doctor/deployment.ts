import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isFolder, textIn } from '../files.js';
import type { SourceFile } from './set-up.js';

/** A file that deploys the application. */
export interface DeploymentFile extends SourceFile {
  readonly kind: 'container' | 'nginx';
}

/** The folders of an application that hold such files. This package has `deploy`. */
const FOLDERS = ['.', 'deploy', 'deployment', 'docker', 'k8s', 'kubernetes'];

const CONTAINER =
  /^(Dockerfile(\.(?!dockerignore).+)?|Containerfile|(docker-)?compose(\..+)?\.ya?ml|fly\.toml|Procfile|app\.yaml|render\.yaml)$/;

/** Kinds of Kubernetes that run containers. */
const WORKLOAD = /^kind:\s*(Deployment|StatefulSet|DaemonSet|Pod)\b/m;

/** The files that deploy the application of a folder, those of its root first. Comments are left out. */
export function deploymentOf(cwd: string): DeploymentFile[] {
  return FOLDERS.flatMap(folder => pathsIn(cwd, folder)).flatMap(path => {
    const text = textIn(cwd, path)?.replaceAll(/^\s*#.*$/gm, '') ?? '';
    const kind = kindOf(basename(path), text);
    return kind ? [{ path, text, kind }] : [];
  });
}

function pathsIn(cwd: string, folder: string): string[] {
  if (!isFolder(join(cwd, folder))) return [];
  return readdirSync(join(cwd, folder)).map(name => (folder === '.' ? name : `${folder}/${name}`));
}

function kindOf(name: string, text: string): DeploymentFile['kind'] | undefined {
  if (text === '') return undefined;
  if (CONTAINER.test(name) || (/\.ya?ml$/.test(name) && WORKLOAD.test(text))) return 'container';
  return name.endsWith('.conf') && /\bproxy_pass\b/.test(text) ? 'nginx' : undefined;
}
