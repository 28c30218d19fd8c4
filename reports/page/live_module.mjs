// The compiled library of the live page: from the folder that Emscripten wrote (scripts/live_module.sh), or from a page that holds it.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** {GLUE: Emscripten's script, MODULE: the library, both gzip in base64; SOURCES: the hash of what it was compiled from}, as texts. */
export function compiledLibrary(from) {
  if (statSync(from).isDirectory()) {
    const file = (name) => readFileSync(join(from, name));
    return {
      GLUE: file('treeline.js.gz').toString('base64'),
      MODULE: file('treeline.wasm.gz').toString('base64'),
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
