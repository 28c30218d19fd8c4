// The live page in Chromium: made by the program, or, where that was built without the module, with a native process that answers.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, openTab } from '../reports/chromium.mjs';
import { Browsers } from '../reports/fonts.mjs';
import { Native } from './native.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const BUILD = join(here, '../../reports/page/build.mjs');

const inScript = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

/** A page without the module, as reports/live_page.cpp would fill it. */
async function standInPage(program, native, file) {
  execFileSync(process.execPath, [BUILD, file, '--live', 'stand-in'], { stdio: 'inherit' });
  const json = (...words) => JSON.parse(execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 }));
  const question = json('explore', '--print-input', '--output', '-');
  const start = {
    title: question.title,
    version: 'stand-in',
    question,
    answer: JSON.parse(await native.ask('explore', JSON.stringify(question))),
    catalogue: {
      models: json('models', '--format', 'json').models.map(({ name }) => name),
      devices: json('hardware', '--format', 'json').devices.map(({ name, title }) => [name, title]),
      engines: [
        ['vllm', 'vLLM 1', ''],
        ['sglang', 'SGLang 1', 'sglang'],
        ['tensorrt-llm', 'TensorRT-LLM 1', 'tensorrt_llm'],
        ['llama.cpp', 'llama.cpp 1', ''],
      ],
    },
  };
  const page = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    page.replace('<!--treeline:title-->', () => start.title).replace('<!--treeline:data-->', () => inScript(start)),
  );
}

/** `answers`: the native program answer_questions. */
export async function preparePage(program, answers) {
  const folder = mkdtempSync(join(tmpdir(), 'treeline-live-'));
  const file = join(folder, 'live.html');
  const native = new Native(answers, folder);
  const { status, stderr } = spawnSync(program, ['explore', '--output', file], { encoding: 'utf8' });
  const real = status === 0;
  if (!real) {
    if (!stderr.includes('built without the live page')) throw new Error(stderr);
    await standInPage(program, native, file);
  }
  const browsers = new Browsers(folder);
  if (real) {
    // Its process keeps the compiled module for as long as a page has it.
    const { page } = await openTab(await browsers.with());
    await page.goto(`file://${file}`);
  }
  return {
    file,
    folder,
    real,
    native,
    async close() {
      await browsers.close();
      native.close();
      rmSync(folder, { recursive: true });
    },
    /** A page, and what it complained of or asked the network for. `hash`: of the address; `before`: runs in the page first;
     *  `family`: of fonts.mjs, as if it were the only one; `alone`: in a browser that has seen no other page. */
    async open({ width, height, scheme, hash = '', before, answered = true, media, family, alone = false, file: other = file } = {}) {
      const browser = alone ? await launch() : await browsers.with(family);
      const { page, close } = await openTab(browser, { width, height, scheme });
      page.setDefaultTimeout(120_000); // of a machine that does much else
      const complaints = [];
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)));
      page.on(
        'request',
        (request) =>
          !/^(file|data|blob):/.test(request.url()) && complaints.push(`a request left the page: ${request.url()}`),
      );
      if (media) await page.emulateMedia(media);
      if (before) await page.addInitScript(before);
      if (!real) await page.exposeFunction('treelineStandIn', (kind, question) => native.ask(kind, question));
      await page.goto(`file://${other}${hash}`);
      if (answered) await settled(page);
      return { page, complaints, close: alone ? () => browser.close() : close };
    },
  };
}

const count = (page) => page.evaluate(() => Number(document.documentElement.dataset.answered ?? 0));

/** Waits until the page has answered after what `act` did to it, and nothing more is asked. */
export async function settled(page, act) {
  const before = await count(page);
  await act?.();
  await page.waitForFunction((known) => Number(document.documentElement.dataset.answered ?? 0) > known, act ? before : 0, {
    timeout: 30_000,
  });
  let last;
  do {
    last = await count(page);
    await page.waitForTimeout(150);
  } while ((await count(page)) !== last);
}

/** The question that the page asks, from its address. */
export async function questionOf(page) {
  await page.waitForTimeout(350); // the address follows a moment later
  return page.evaluate(async () => {
    const text = location.hash.slice('#s='.length).replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return JSON.parse(await new Response(stream).text()).question;
  });
}

export const sentence = (page) => page.locator('#answer .answer').innerText();
export const field = (page, label) => page.getByLabel(label, { exact: true });

/** Puts a file onto the page, as a reader drops it. */
export async function drop(page, name, content) {
  const data = await page.evaluateHandle(
    ([file, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], file));
      return transfer;
    },
    [name, content],
  );
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
}
