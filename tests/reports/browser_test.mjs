// Does the report work for a reader? node browser_test.mjs <fixture report> <render_fixture program> [words of the checks to run]
// Opens the rendered fixture, and variants of its data, in headless Chromium. Exit code 0: all checks hold; 1: some do not; 77: skipped, which
// only TREELINE_SKIP_BROWSER=1 allows.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binary, hasChromium } from './chromium.mjs';
import { Browsers } from './fonts.mjs';
import { openReport } from './report_page.mjs';
import { checks as board } from './checks/board.mjs';
import { checks as charts } from './checks/charts.mjs';
import { checks as fonts } from './checks/fonts.mjs';
import { checks as look } from './checks/look.mjs';
import { checks as oddData } from './checks/odd_data.mjs';
import { checks as space } from './checks/space.mjs';
import { checks as use } from './checks/use.mjs';

const [report, renderer] = process.argv.slice(2, 4).map((path) => resolve(path));
const wanted = process.argv[4] ?? '';
const data = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'fixture.json'), 'utf8'));

if (process.env.TREELINE_SKIP_BROWSER === '1') {
  console.log('Skipped: TREELINE_SKIP_BROWSER is set.');
  process.exit(77);
}
if (!hasChromium()) {
  console.error(
    `No Chromium at ${binary}; install it (Debian: apt-get install chromium), or set TREELINE_SKIP_BROWSER=1 to skip.`,
  );
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'treeline-report-'));
const browsers = new Browsers(folder);

/** Renders other data through the C++ program, as the report itself was. */
function render(name, content) {
  const [input, output] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  writeFileSync(input, JSON.stringify(content));
  execFileSync(renderer, [input, output], { stdio: 'inherit' });
  return output;
}

async function withReport(options, work, file = report) {
  const { page, complaints, close } = await openReport(await browsers.with(options.family), file, options);
  try {
    await work(page);
    assert.deepEqual(complaints, []);
  } finally {
    await close();
  }
}

/** No part of the page is wider than the window. */
const noOverflow = async (page) => {
  const { content, window } = await page.evaluate(() => ({
    content: document.scrollingElement.scrollWidth,
    window: innerWidth,
  }));
  assert.ok(content <= window, `the page is ${content} px wide in a window of ${window} px`);
};

const tools = { data, withReport, render, noOverflow };
const all = { ...board(tools), ...use(tools), ...charts(tools), ...look(tools), ...oddData(tools), ...fonts(tools), ...space(tools) };
const checks = Object.fromEntries(Object.entries(all).filter(([name]) => name.includes(wanted)));
let failures = Object.keys(checks).length > 0 ? 0 : 1;
for (const [name, check] of Object.entries(checks)) {
  const begin = performance.now();
  try {
    await check();
    console.log(`ok      ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browsers.close();
rmSync(folder, { recursive: true });
console.log(
  failures === 0
    ? `All ${Object.keys(checks).length} checks hold.`
    : `${failures} of ${Object.keys(checks).length} checks failed.`,
);
process.exit(failures === 0 ? 0 : 1);
