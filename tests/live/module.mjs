// The module of the live page, in Node.js.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A function of kind and question, both texts, that returns the answer. */
export async function loadModule(folder) {
  const load = createRequire(import.meta.url)(join(folder, 'treeline.js'));
  const library = await load({ wasmBinary: gunzipSync(readFileSync(join(folder, 'treeline.wasm.gz'))) });
  return (kind, question) => library.ccall('treeline_answer', 'string', ['string', 'string'], [kind, question]);
}
