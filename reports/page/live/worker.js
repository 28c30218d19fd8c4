// Runs in the worker: unpacks the library and the script that Emscripten wrote to load it (treelineModule), then answers one question after
// another. In: first {glue, module}, both gzip in base85.js's letters, then {id, kind, question}. Out: {ready: ms}, {failed}, or {id, answer, ms}.
import { bytesOf } from './base85.js';

let library;
const waiting = [];

async function unpacked(text) {
  return new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

function answer({ id, kind, question }) {
  const began = performance.now();
  const text = library.ccall('treeline_answer', 'string', ['string', 'string'], [kind, question]);
  postMessage({ id, answer: text, ms: performance.now() - began });
}

async function start({ glue, module }) {
  const began = performance.now();
  importScripts(URL.createObjectURL(new Blob([await unpacked(glue)], { type: 'text/javascript' })));
  library = await treelineModule({ wasmBinary: new Uint8Array(await unpacked(module)) });
  postMessage({ ready: performance.now() - began });
  waiting.splice(0).forEach(answer);
}

onmessage = ({ data }) => {
  if (data.module) start(data).catch((error) => postMessage({ failed: String(error) }));
  else if (library) answer(data);
  else waiting.push(data);
};
