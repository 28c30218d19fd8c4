// The compiled library of the live page: from the folder that Emscripten wrote (scripts/live_module.sh), or from a page that holds it.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './live/base85.js';

/** {GLUE: Emscripten's script, MODULE: the library, both gzip in base85.js's letters; SOURCES: the hash of what it was compiled from}, as texts. */
export function compiledLibrary(from) {
  if (statSync(from).isDirectory()) {
    const file = (name) => readFileSync(join(from, name));
    return {
      GLUE: textOf(file('treeline.js.gz')),
      MODULE: textOf(file('treeline.wasm.gz')),
      SOURCES: file('sources').toString().trim(),
    };
  }
  const page = readFileSync(from, 'utf8');
  const part = (pattern) => {
    const found = page.match(pattern);
    if (!found) throw new Error(`${from} holds no compiled library`);
    return found[1];
  };
  return {
    GLUE: part(/<script type="text\/plain" id="glue">([^<]*)<\/script>/),
    MODULE: part(/<script type="text\/plain" id="module"[^>]*>([^<]*)<\/script>/),
    SOURCES: part(/<script type="text\/plain" id="module" data-sources="([0-9a-f]+)">/),
  };
}
