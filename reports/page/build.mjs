// Makes the pages. Scripts and styles are bundled into one HTML file in which only the title and the data are missing; the program puts those
// in (reports/page_slots.cpp).
//   node build.mjs <output>                            the report
//   node build.mjs <output> --live <module>            the live page; the compiled library is in <module> (live_module.mjs)
//   node build.mjs <output> --live stand-in            the same for tests and development: window.treelineStandIn(kind, question) answers
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compiledLibrary } from './live_module.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [output = join(here, 'page.html'), kind, module] = process.argv.slice(2);
const live = kind === '--live';
const standIn = module === 'stand-in';
const SLOTS = ['<!--treeline:title-->', '<!--treeline:data-->'];

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
    define: { STAND_IN: String(standIn) },
  });
  return { text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs) };
}

/** Name, version and licence of every package whose code went into the bundle. */
function licences(inputs) {
  const folders = new Set(inputs.map((path) => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(here, folder)).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file ? readFileSync(join(here, folder, file), 'utf8').trim() : ''}`;
    })
    .join('\n\n----\n\n');
}

/** What the live page runs in its worker, as text of elements that do not run by themselves. */
async function library() {
  if (!live || standIn) return { GLUE: '', WORKER: '', MODULE: '', SOURCES: '' };
  const worker = await bundle('live/worker.js');
  checkScript(worker.text);
  return { WORKER: worker.text, ...compiledLibrary(module) };
}

function checkScript(text) {
  if (/<\/script/i.test(text) || text.includes('<!--'))
    throw new Error('A bundled script would end or comment out its own element.');
}

const escapeHtml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const script = await bundle(live ? 'live/main.js' : 'src/main.js');
const style = await bundle(live ? 'live/style/page.css' : 'style/page.css');
checkScript(script.text);

// No address at all may be asked for; scripts run only if they are the one below. The live page's worker is made of its own text, and runs
// WebAssembly.
const policy =
  `default-src 'none'; script-src 'sha256-${createHash('sha256').update(script.text).digest('base64')}'${live ? " 'wasm-unsafe-eval' blob:" : ''}; ` +
  `${live ? 'worker-src blob:; ' : ''}style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
const noted = live && !standIn ? readFileSync(join(here, '../../wasm/LICENCES'), 'utf8') : '';
const parts = {
  POLICY: policy,
  STYLE: style.text,
  SCRIPT: script.text,
  LICENCES: escapeHtml([noted, licences(script.inputs)].filter(Boolean).join('\n\n----\n\n')),
  ...(await library()),
};
const page = readFileSync(join(here, live ? 'live/index.html' : 'index.html'), 'utf8').replace(
  /@([A-Z]+)@/g,
  (_, name) => parts[name],
);
for (const slot of SLOTS) {
  if (page.split(slot).length !== 2) throw new Error(`The page must hold ${slot} exactly once.`);
}
writeFileSync(`${output}.new`, page);
renameSync(`${output}.new`, output);
