// Do the charts say what a reader needs: ticks that a person would choose, and what lies outside the given traffic?
import assert from 'node:assert/strict';
import { eventually } from '../eventually.mjs';

/** The numbers along one axis of a chart; "10,000" is 10000. */
const ticksOf = async (page, id, axis) => {
  const labels = await page
    .locator(`#${id} svg g.role-axis`)
    .filter({ has: page.locator('.role-axis-title', { hasText: axis }) })
    .locator('.role-axis-label text')
    .allTextContents();
  return labels.filter(Boolean).map((label) => Number(label.replaceAll(',', '')));
};

const isRound = (value) => [1, 2, 5].some((factor) => Math.abs(Math.log10(value / factor) % 1) < 1e-9);
const isPowerOfTwo = (value) => Number.isInteger(Math.log2(value));
const inside = ({ traffic: [low, high] }, row) =>
  row.batch >= low.batch && row.batch <= high.batch && row.context >= low.context && row.context <= high.context;

/** Colours of the marks of a kind, with how many have each. */
const fillsOf = (page, selector) =>
  page.locator(selector).evaluateAll((nodes) =>
    nodes.reduce((counts, node) => {
      const { fill } = getComputedStyle(node);
      return { ...counts, [fill]: (counts[fill] ?? 0) + 1 };
    }, {}),
  );

export const checks = ({ data, withReport, render }) => ({
  'log axes count in 1, 2 and 5 times powers of ten, batches in powers of two': async () => {
    const changed = structuredClone(data);
    const [fit] = changed.sections[0].figures;
    fit.x = { key: 'batch', title: 'Batch', log: true };
    fit.rows.forEach((row) => {
      row.batch = row.tokens;
    });
    const pageOfBatches = render('batches', changed);
    for (const width of [360, 1280]) {
      await withReport({ width }, async (page) => {
        for (const [id, axis] of [
          ['roofline-chart', 'intensity'],
          ['roofline-chart', 'Attained'],
          ['pareto-chart', 'each device'],
          ['fixture-fit', 'Tokens'],
        ]) {
          const ticks = await ticksOf(page, id, axis);
          assert.ok(ticks.length >= 3 && ticks.every(isRound), `${axis} of ${id} at ${width} px: ${ticks}`);
        }
        const step = (await ticksOf(page, 'draft-length-chart', 'Draft tokens')).map((tick, i, all) => all[i + 1] - tick);
        assert.ok(step.slice(0, -1).every((size) => size === step[0]) && isRound(step[0]), `draft tokens: steps of ${step}`);
        // Ticks follow the zoom.
        await page.getByRole('button', { name: /^Zoom in: Roofline/ }).click();
        await page.getByRole('button', { name: /^Zoom in: Roofline/ }).click();
        await eventually(async () => {
          const near = await ticksOf(page, 'roofline-chart', 'intensity');
          assert.ok(near.length >= 2, `after zooming: ${near}`);
        });
      });
      await withReport(
        { width },
        async (page) => {
          const ticks = await ticksOf(page, 'fixture-fit', 'Batch');
          assert.ok(ticks.length >= 3 && ticks.every(isPowerOfTwo), `batches at ${width} px: ${ticks}`);
        },
        pageOfBatches,
      );
    }
  },

  'an axis that is told so begins at zero': () => {
    const changed = structuredClone(data);
    changed.sections[0].figures[0].y.zero = true;
    return withReport(
      {},
      async (page) => assert.equal((await ticksOf(page, 'fixture-fit', 'Time'))[0], 0),
      render('zero', changed),
    );
  },

  'no axis runs below zero where nothing lies there': () => {
    const changed = structuredClone(data);
    const [fit] = changed.sections[0].figures;
    fit.x = { key: 'tokens', title: 'Rounds' };
    for (const row of fit.rows) row.tokens *= 1000;
    return withReport(
      {},
      async (page) => assert.ok((await ticksOf(page, 'fixture-fit', 'Rounds')).every((tick) => tick >= 0)),
      render('rounds', changed),
    );
  },

  'what is compared has colours of its own': () =>
    withReport({}, async (page) => {
      const colours = await page.locator('#round-chart .swatch').evaluateAll((nodes) => nodes.map((node) => getComputedStyle(node).backgroundColor));
      assert.equal(new Set(colours).size, colours.length, colours.join(', '));
    }),

  'what lies outside the given traffic is grey, and the legend says so': () =>
    withReport({}, async (page) => {
      const outside = data.pareto.filter((row) => !inside(data, row)).length;
      assert.ok(outside > 0 && outside < data.pareto.length);
      const grey = await page
        .locator('#pareto-chart button.series', { hasText: 'outside the given traffic' })
        .locator('.swatch')
        .evaluate((node) => getComputedStyle(node).backgroundColor);
      assert.equal((await fillsOf(page, '#pareto-chart svg g.mark-symbol > path'))[grey], outside);
      await page.locator('#pareto-chart button.series', { hasText: 'outside the given traffic' }).click();
      await eventually(async () =>
        assert.equal((await fillsOf(page, '#pareto-chart svg g.mark-symbol > path'))[grey], undefined),
      );

      const lines = data.by_draft_length.filter((row) => row.context === data.by_draft_length[0].context);
      const points = await fillsOf(page, '#draft-length-chart svg g.mark-symbol > path');
      assert.equal(points[grey], lines.filter((row) => !inside(data, row)).length);
      assert.match(await page.locator('#draft-length-chart .legend').textContent(), /outside the given traffic/);

      assert.match(await page.locator('#schedule-chart .legend').textContent(), /outside the given traffic/);
      const steps = await fillsOf(page, '#schedule-chart svg g.mark-rect > path');
      assert.ok(steps[grey] >= 3, 'below batch 4, from 101 to the end of its step, and beyond');

      assert.match(await page.locator('#speedup-map .colour-scale').textContent(), /greyed: outside the given traffic/);
      const saturation = await page.locator('#speedup-map svg g.mark-rect > path').evaluateAll((nodes) =>
        nodes.map((node) => {
          const channels = getComputedStyle(node).fill.match(/\d+/g).map(Number);
          return Math.max(...channels) - Math.min(...channels);
        }),
      );
      const cells = data.heatmap.rows;
      const vivid = (index) => saturation[index];
      const strong = cells.findIndex((row) => row.batch === 4 && row.context === 2048);
      const pale = cells.findIndex((row) => row.batch === 1 && row.context === 2048);
      assert.ok(vivid(pale) < 0.5 * vivid(strong), `${vivid(pale)} outside, ${vivid(strong)} inside`);
    }),

  'without traffic in the data nothing is grey': () => {
    const { traffic, ...rest } = data;
    assert.ok(traffic);
    return withReport(
      {},
      async (page) => assert.equal(await page.getByText(/outside the given traffic/).count(), 0),
      render('everything-asked', rest),
    );
  },

  'charts with nothing to draw in a layer make no complaint': () => {
    const changed = structuredClone(data);
    const [fit] = changed.sections[0].figures;
    for (const row of fit.rows) for (const key of ['low_ms', 'high_ms', 'measured_ms']) delete row[key];
    changed.by_draft_length = changed.by_draft_length.filter((row) => row.batch === 1);
    changed.pareto.forEach((row) => {
      row.on_front = false;
    });
    return withReport({}, async (page) => assert.ok((await page.locator('.plot svg').count()) >= 12), render('sparse', changed));
  },
});
