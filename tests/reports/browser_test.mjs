// Does the report work for a reader? node browser_test.mjs <fixture report> <render_fixture program>
// Opens the rendered fixture, and variants of its data, in headless Chromium. Exit code 0: all checks hold; 1: some do not; 77: skipped, which
// only TREELINE_SKIP_BROWSER=1 allows.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binary, hasChromium, launch } from './chromium.mjs';
import { openReport, readCharts, worstContrast } from './report_page.mjs';

const [report, renderer] = process.argv.slice(2).map((path) => resolve(path));
const data = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'fixture.json'), 'utf8'));
const WIDTHS = [360, 768, 1280];

if (process.env.TREELINE_SKIP_BROWSER === '1') {
  console.log('Skipped: TREELINE_SKIP_BROWSER is set.');
  process.exit(77);
}
if (!hasChromium()) {
  console.error(`No Chromium at ${binary}; install it (Debian: apt-get install chromium), or set TREELINE_SKIP_BROWSER=1 to skip.`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'treeline-report-'));
const browser = await launch();

/** Renders other data through the C++ program, as the report itself was. */
function render(name, content) {
  const [input, output] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  writeFileSync(input, JSON.stringify(content));
  execFileSync(renderer, [input, output], { stdio: 'inherit' });
  return output;
}

async function withReport(options, work, file = report) {
  const { page, complaints, close } = await openReport(browser, file, options);
  try {
    await work(page);
    assert.deepEqual(complaints, []);
  } finally {
    await close();
  }
}

const noOverflow = async (page) => {
  const { content, window } = await page.evaluate(() => ({ content: document.scrollingElement.scrollWidth, window: innerWidth }));
  assert.ok(content <= window, `the page is ${content} px wide in a window of ${window} px`);
};

const firstColumn = (page, index) => page.locator(`#candidates tbody tr td:nth-child(${index})`).allTextContents();

const checks = {
  'every section of the data is there, under its heading, without a complaint of the browser': () => withReport({}, async (page) => {
    assert.equal(await page.title(), data.title);
    assert.equal(await page.locator('h1').textContent(), data.title);
    assert.equal(await page.locator('main > section').count(), 13);
    assert.equal(await page.locator('.answer').textContent(), data.summary.sentence);
    const links = await page.locator('.contents a').evaluateAll((nodes) => nodes.map((node) => node.hash.slice(1)));
    for (const id of links) assert.equal(await page.locator(`section#${id} h2`).count(), 1, id);
  }),

  'charts hold a mark for each row and keep inside their box at every width': async () => {
    const atOneContext = data.by_draft_length.filter((row) => row.context === data.by_draft_length[0].context);
    const expected = {
      'schedule-chart': ['rect', data.schedule.length], 'speedup-map': ['rect', data.heatmap.rows.length],
      'draft-length-chart': ['symbol', atOneContext.length], 'pareto-chart': ['symbol', data.pareto.length],
      'round-chart': ['rect', data.round.length], 'roofline-chart': ['symbol', data.roofline.operations.length],
      'memory-chart': ['rect', data.memory.parts.length], 'tornado-chart': ['rect', 2 * data.uncertainty.inputs.length],
    };
    for (const width of WIDTHS) {
      await withReport({ width }, async (page) => {
        await noOverflow(page);
        const charts = await readCharts(page);
        assert.deepEqual(charts.map((chart) => chart.id).sort(), Object.keys(expected).sort());
        for (const { id, counts, outside, wide, alternative } of charts) {
          const [kind, least] = expected[id];
          assert.ok(counts[kind] >= least, `${id} at ${width} px: ${counts[kind]} ${kind} marks for ${least} rows`);
          assert.deepEqual(outside, [], `${id} at ${width} px: marks outside the picture`);
          assert.ok(!wide, `${id} is wider than its box at ${width} px`);
          assert.ok(alternative.length > 40, `${id} needs words for those who cannot see it`);
        }
      });
    }
  },

  'charts follow a window that changes its width': () => withReport({ width: 1280 }, async (page) => {
    await page.setViewportSize({ width: 500, height: 900 });
    await page.waitForFunction(() => [...document.querySelectorAll('.plot svg')].every((svg) => svg.getBoundingClientRect().width < 480));
    await noOverflow(page);
  }),

  'the candidate table sorts, filters, shows all and leaves as CSV': () => withReport({}, async (page) => {
    const speedup = data.candidates.columns.findIndex((column) => column.key === 'speedup') + 1;
    const header = page.locator('#candidates thead th').nth(speedup - 1);
    await page.getByRole('button', { name: /^Show all/ }).click();
    const all = data.candidates.rows.map((row) => row.speedup);
    for (const [direction, extreme] of [['descending', Math.max(...all)], ['ascending', Math.min(...all)]]) {
      await header.getByRole('button').click();
      assert.equal(await header.getAttribute('aria-sort'), direction);
      const shown = (await firstColumn(page, speedup)).map(Number);
      assert.equal(shown.length, all.length);
      assert.ok(Math.abs(shown[0] - extreme) <= 0.0051, `${shown[0]} stands first, ${extreme} should`);
      const ordered = [...shown].sort((a, b) => (direction === 'ascending' ? a - b : b - a));
      assert.deepEqual(shown, ordered);
    }
    await page.getByLabel('Filter candidates').fill('EAGLE 8x');
    const wanted = data.candidates.rows.filter((row) => row.drafter.includes('eagle') && row.device.includes('8x'));
    assert.equal((await firstColumn(page, 1)).length, wanted.length);
    assert.match(await page.locator('#candidates [role=status]').textContent(), new RegExp(`^${wanted.length} of ${all.length} rows`));
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#candidates').getByRole('button', { name: 'Download CSV' }).click()]);
    const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
    assert.equal(download.suggestedFilename(), 'candidates.csv');
    assert.equal(lines.length, wanted.length + 1);
    assert.equal(lines[0].split(',').length, data.candidates.columns.length);
  }),

  'the heading of a long table stays in sight': () => withReport({}, async (page) => {
    const scroller = page.locator('#candidates .scroll');
    await scroller.evaluate((node) => { node.scrollTop = 1500; });
    const [box, heading] = [await scroller.boundingBox(), await page.locator('#candidates thead th').first().boundingBox()];
    assert.ok(Math.abs(heading.y - box.y) < 3);
  }),

  'light and dark differ, are legible, and the button changes the charts too': async () => {
    for (const dark of [false, true]) {
      await withReport({ dark }, async (page) => {
        const look = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.plot .role-axis-label text')).fill]);
        const { ratio, text } = await worstContrast(page);
        assert.ok(ratio >= 4.5, `contrast ${ratio.toFixed(2)} of "${text}" in the ${dark ? 'dark' : 'light'} theme`);
        const before = await look();
        await page.getByRole('button', { name: dark ? 'Light theme' : 'Dark theme' }).click();
        const after = await look();
        assert.notEqual(before[0], after[0]);
        assert.notEqual(before[1], after[1]);
        assert.ok((await worstContrast(page)).ratio >= 4.5);
      });
    }
  },

  'paper shows light charts, whole tables and no controls': () => withReport({ dark: true, width: 700 }, async (page) => {
    await page.emulateMedia({ media: 'print' });
    await noOverflow(page);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
    assert.equal(await page.locator('.zoom:visible, #theme:visible, .save:visible').count(), 0);
    assert.ok((await worstContrast(page)).ratio >= 4.5);
    for (const { id, counts, outside } of await readCharts(page)) {
      assert.ok(Object.keys(counts).length > 0, id);
      assert.deepEqual(outside, [], id);
    }
    assert.ok((await page.pdf({ format: 'A4' })).length > 50_000);
  }),

  'every control can be reached by keyboard and has a name': () => withReport({}, async (page) => {
    const nameless = await page.locator('button, select, input, summary, a, [tabindex="0"]').evaluateAll((nodes) => nodes
      .filter((node) => !(node.getAttribute('aria-label') || node.labels?.[0]?.textContent || node.textContent).trim()).map((node) => node.outerHTML));
    assert.deepEqual(nameless, []);
    assert.equal(await page.locator('[tabindex]:not([tabindex="0"])').count(), 0);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the answer');
    await page.keyboard.press('Tab');
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  }),

  'legend, lists and zoom change the chart; a plain wheel scrolls the page': () => withReport({}, async (page) => {
    const chart = page.locator('#draft-length-chart');
    const symbols = () => chart.locator('svg g.mark-symbol > path').count();
    const ticks = async () => (await page.locator('#pareto-chart .role-axis-label text').allTextContents()).sort();
    const whole = await symbols();
    await chart.locator('button.series').first().click();
    assert.ok(await symbols() < whole);
    await chart.getByRole('combobox').first().selectOption({ index: 1 });
    assert.ok(await symbols() < whole / 2);
    const before = await ticks();
    await page.getByRole('button', { name: /^Zoom in: Tokens/ }).click();
    assert.notDeepEqual(await ticks(), before);
    await page.getByRole('button', { name: /^Reset zoom: Tokens/ }).click();
    assert.deepEqual(await ticks(), before);
    await page.locator('#pareto-chart .plot').hover();
    const top = await page.evaluate(() => scrollY);
    await page.mouse.wheel(0, 200);
    await page.waitForFunction((was) => scrollY > was, top);
    assert.deepEqual(await ticks(), before);
  }),

  'a mark under the pointer explains itself': () => withReport({}, async (page) => {
    await page.locator('#speedup-map svg g.mark-rect > path').first().hover();
    const tooltip = page.locator('#vg-tooltip-element.visible');
    await tooltip.waitFor();
    assert.match(await tooltip.textContent(), /Batch.*Context.*Speed-up.*×/);
  }),

  'the numbers behind each chart and pictures of it can be had': () => withReport({}, async (page) => {
    await page.locator('#pareto-chart summary').click();
    assert.equal(await page.locator('#pareto-chart .numbers tbody tr').count(), Math.min(100, data.pareto.length));
    for (const [kind, start] of [['SVG', '<svg'], ['PNG', '\x89PNG']]) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#pareto-chart').getByRole('button', { name: new RegExp(`as ${kind}$`) }).click()]);
      assert.equal(readFileSync(await download.path(), 'latin1').slice(0, start.length), start);
    }
  }),

  'hostile strings stay text everywhere': async () => {
    const attacks = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(2)>', '"><svg onload=alert(3)>', '<!--', '__proto__', "${alert(4)}", "'+alert(5)+'", 'a.b[0]\\"c'];
    let next = 0;
    const keep = new Set(['format', 'key', 'phase', 'configuration', 'bound', 'unit']);
    const poison = (value, key) => {
      if (typeof value === 'string') return keep.has(key) ? value : `${attacks[next++ % attacks.length]} ${value}`;
      if (Array.isArray(value)) return value.map((entry) => poison(entry, key));
      if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, poison(entry, name)]));
      return value;
    };
    await withReport({ width: 1000 }, async (page) => {
      assert.match(await page.locator('h1').textContent(), /<\/script><script>alert\(1\)<\/script>/);
      assert.equal(await page.locator('#page img, #page script, #page [onload], #page [onerror]').count(), 0);
      for (const { id, counts } of await readCharts(page)) assert.ok(Object.keys(counts).length > 0, id);
      await page.locator('#pareto-chart svg g.mark-symbol > path').last().hover();
      assert.equal(await page.locator('#vg-tooltip-element img, #vg-tooltip-element script').count(), 0);
      await page.locator('#pareto-chart summary').click();
      await noOverflow(page);
    }, render('hostile', poison(data)));
  },

  'a section without data is left out, and long names do not break a phone': async () => {
    await withReport({}, async (page) => assert.equal(await page.locator('main > section').count(), 1),
      render('smallest', { title: 'Smallest', summary: { sentence: 'Run this.' } }));
    const long = structuredClone(data);
    const name = 'a-drafter-with-a-name-that-never-ends-'.repeat(4);
    for (const rows of [long.by_draft_length, long.pareto, long.schedule, long.candidates.rows]) rows.forEach((row) => { if (row.drafter) row.drafter = name + row.drafter; });
    long.uncertainty.inputs[0].name = name;
    long.round.forEach((row) => { if (row.configuration !== 'plain decoding') row.configuration = name; });
    await withReport({ width: 360 }, noOverflow, render('long', long));
  },
};

let failures = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(failures === 0 ? `All ${Object.keys(checks).length} checks hold.` : `${failures} of ${Object.keys(checks).length} checks failed.`);
process.exit(failures === 0 ? 0 : 1);
