// Does everything show, inside its box, legibly: at each width, in both themes, on paper, by keyboard?
import assert from 'node:assert/strict';
import { eventually } from '../eventually.mjs';
import { readCharts, worstContrast } from '../report_page.mjs';

const WIDTHS = [360, 768, 1280];

export const checks = ({ data, withReport, noOverflow }) => ({
  'charts hold a mark for each row and keep inside their box at every width': async () => {
    const atOneContext = data.by_draft_length.filter((row) => row.context === data.by_draft_length[0].context);
    const rowsOf = (id) => data.sections[0].figures.find((figure) => figure.id === id).rows;
    const expected = {
      'schedule-chart': ['rect', data.schedule.length],
      'speedup-map': ['rect', data.heatmap.rows.length],
      'draft-length-chart': ['symbol', atOneContext.length],
      'pareto-chart': ['symbol', data.pareto.length],
      'round-chart': ['rect', data.round.length],
      'roofline-chart': ['symbol', data.roofline.operations.length],
      'memory-chart': ['rect', data.memory.parts.length],
      'tornado-chart': ['rect', 2 * data.uncertainty.inputs.length],
      'fixture-fit': ['symbol', 2 * rowsOf('fixture-fit').length], // on the line, and measured
      'fixture-parity': ['symbol', rowsOf('fixture-parity').length],
      'fixture-memory': ['rect', rowsOf('fixture-memory').length / 2], // one of two batches at a time
      'fixture-timeline': ['rect', rowsOf('fixture-timeline').length],
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

  'charts follow a window that changes its width': () =>
    withReport({ width: 1280 }, async (page) => {
      await page.setViewportSize({ width: 500, height: 900 });
      await page.waitForFunction(() =>
        [...document.querySelectorAll('.plot svg')].every((svg) => svg.getBoundingClientRect().width < 480),
      );
      await noOverflow(page);
    }),

  'light and dark differ, are legible, and the choice changes the charts too': async () => {
    for (const dark of [false, true]) {
      await withReport({ dark }, async (page) => {
        const look = () =>
          page.evaluate(() => [
            getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector('.plot .role-axis-label text')).fill,
          ]);
        const { ratio, text } = await worstContrast(page);
        assert.ok(ratio >= 4.5, `contrast ${ratio.toFixed(2)} of "${text}" in the ${dark ? 'dark' : 'light'} theme`);
        const before = await look();
        await page.getByLabel('Theme').selectOption(dark ? 'Light' : 'Dark');
        await eventually(async () => {
          const after = await look();
          assert.notEqual(before[0], after[0]);
          assert.notEqual(before[1], after[1]);
        });
        assert.ok((await worstContrast(page)).ratio >= 4.5);
      });
    }
  },

  'paper shows light charts, whole tables and no controls': () =>
    withReport({ dark: true, width: 700 }, async (page) => {
      await page.emulateMedia({ media: 'print' });
      await noOverflow(page);
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
      assert.equal(await page.locator('.zoom:visible, .theme:visible, .save:visible').count(), 0);
      assert.ok((await worstContrast(page)).ratio >= 4.5);
      for (const { id, counts, outside } of await readCharts(page)) {
        assert.ok(Object.keys(counts).length > 0, id);
        assert.deepEqual(outside, [], id);
      }
      assert.ok((await page.pdf({ format: 'A4' })).length > 50_000);
    }),

  'every control can be reached by keyboard and has a name': () =>
    withReport({}, async (page) => {
      const nameless = await page
        .locator('button, select, input, summary, a, [tabindex="0"]')
        .evaluateAll((nodes) =>
          nodes
            .filter((node) => !(node.getAttribute('aria-label') || node.labels?.[0]?.textContent || node.textContent).trim())
            .map((node) => node.outerHTML),
        );
      assert.deepEqual(nameless, []);
      assert.equal(await page.locator('[tabindex]:not([tabindex="0"])').count(), 0);
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the answer');
      await page.keyboard.press('Tab');
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
      await page.keyboard.press('D');
      assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    }),

  'the theme is remembered, and a browser that forbids storage still shows the page': async () => {
    await withReport({}, async (page) => {
      const theme = () => page.locator('html').getAttribute('data-theme');
      // A busy browser writes storage some time after the page did, and may lose what it was given while it started: choose again until it is
      // kept, for ten seconds at most.
      const chooseUntil = async (option, expected) => {
        for (let i = 0; i < 20; i++) {
          await page.getByLabel('Theme').selectOption('Light');
          await page.getByLabel('Theme').selectOption(option);
          await page.waitForTimeout(500);
          await page.reload();
          await page.waitForSelector('html[data-ready]');
          if ((await theme()) === expected) return;
        }
      };
      assert.equal(await theme(), null);
      await chooseUntil('Dark', 'dark');
      assert.equal(await theme(), 'dark');
      assert.equal(await page.getByLabel('Theme').inputValue(), 'dark');
      await chooseUntil('Auto', null);
      assert.equal(await theme(), null);
    });
    const forbid = () =>
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('forbidden', 'SecurityError');
        },
      });
    await withReport({ before: forbid }, async (page) => {
      await page.getByLabel('Theme').selectOption('Dark');
      await page.waitForTimeout(500); // the browser writes storage a moment later
      assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    });
  },
});
