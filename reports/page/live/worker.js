// Runs in the worker: unpacks the library and the script that Emscripten wrote to load it (treelineModule), then answers one question after
// another. In: first {glue, module}, both gzip in base85.js's letters, then {id, kind, question}. Out: {ready: ms}, {failed}, or
// {id, answer, trap, ms}, `trap` as in answerer.js.
import { Answerer } from './answerer.js';
import { bytesOf } from './base85.js';

async function unpacked(text) {
  return new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

let answerer;
let last; // of what was asked: the library takes one question at a time

async function answer({ id, kind, question }) {
  const began = performance.now();
  const answered = await answerer.ask(kind, question);
  postMessage({ id, ...answered, ms: performance.now() - began });
}

async function start({ glue, module }) {
  const began = performance.now();
  importScripts(URL.createObjectURL(new Blob([await unpacked(glue)], { type: 'text/javascript' })));
  const wasmBinary = new Uint8Array(await unpacked(module));
  answerer = new Answerer(() => treelineModule({ wasmBinary }));
  await answerer.start();
  postMessage({ ready: performance.now() - began });
}

onmessage = ({ data }) => {
  last = (data.module ? start(data) : last.then(() => answer(data))).catch((error) => {
    postMessage({ failed: String(error) });
    return new Promise(() => {}); // what follows has nobody to answer it
  });
};
