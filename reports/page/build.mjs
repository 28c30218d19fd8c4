// Makes the page: node build.mjs <output>. Bundles scripts and styles into one HTML file in which only the title and the report data are
// missing; the program puts those in (reports/html.cpp).
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, 'page.html');
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

const escapeHtml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const script = await bundle('src/main.js');
const style = await bundle('style/page.css');
if (/<\/script/i.test(script.text) || script.text.includes('<!--'))
  throw new Error('The bundled script would end or comment out its own element.');

// No address at all may be asked for; scripts run only if they are the one below.
const policy =
  `default-src 'none'; script-src 'sha256-${createHash('sha256').update(script.text).digest('base64')}'; ` +
  "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";
const parts = {
  POLICY: policy,
  STYLE: style.text,
  SCRIPT: script.text,
  LICENCES: escapeHtml(licences(script.inputs)),
};
const page = readFileSync(join(here, 'index.html'), 'utf8').replace(/@([A-Z]+)@/g, (_, name) => parts[name]);
for (const slot of SLOTS) {
  if (page.split(slot).length !== 2) throw new Error(`The page must hold ${slot} exactly once.`);
}
writeFileSync(`${output}.new`, page);
renameSync(`${output}.new`, output);
