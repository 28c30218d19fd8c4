// The compiled library of a live page, in Node.js and in Chromium: a function of kind and question, both texts, that returns the answer.
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { answerOf } from '../../reports/page/live/answerer.js';
import { bytesOf } from '../../reports/page/live/base85.js';
import { compiledLibrary } from '../../reports/page/live_module.mjs';

export async function inNode(page) {
  const { GLUE, MODULE } = compiledLibrary(page);
  const unpacked = (text) => gunzipSync(bytesOf(text));
  const load = new Function('require', '__filename', '__dirname', `${unpacked(GLUE)}\nreturn treelineModule;`);
  const library = await load(createRequire(import.meta.url), page, '.')({ wasmBinary: unpacked(MODULE) });
  return async (kind, question) => answerOf(library, kind, question);
}

/** In a worker of its own, made of the page's texts as the page makes its own. */
export async function inChromium(page) {
  const { launch } = await import('../reports/chromium.mjs');
  const browser = await launch();
  const tab = await browser.newPage();
  await tab.goto(`file://${page}`);
  await tab.evaluate(() => {
    const text = (id) => document.getElementById(id).textContent;
    const worker = new Worker(URL.createObjectURL(new Blob([text('worker')], { type: 'text/javascript' })));
    let settle;
    worker.onmessage = ({ data }) => 'answer' in data && settle(data.answer);
    worker.postMessage({ glue: text('glue'), module: text('module') });
    globalThis.ask = (kind, question) =>
      new Promise((resolve) => {
        settle = resolve;
        worker.postMessage({ id: 0, kind, question });
      });
  });
  const answer = (kind, question) => tab.evaluate(([k, q]) => globalThis.ask(k, q), [kind, question]);
  answer.close = () => browser.close();
  return answer;
}
