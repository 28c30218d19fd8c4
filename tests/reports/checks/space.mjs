// Does the design space of a sweep stay at hand with a hundred thousand points?
import assert from 'node:assert/strict';
import { eventually } from '../eventually.mjs';

const POINTS = 100_000;
const REPEATS = 5; // the least counts: a machine may be busy with other tests
// Milliseconds to the frame that shows a note, and the first lines after a brush; of the longest frame while lines follow; until all are there.
const GOALS = { note: 100, brush: 250, frame: 250, all: 2000 };

/** A sweep's space with this many kept points, and a map of 10,000 cells; the same every time. */
function manyPoints() {
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const columns = ['device', 'drafter', 'draft_tokens', 'batch', 'context', 'speedup', 'tpot_ms', 'tokens_per_s_device', 'memory_gb'];
  const rows = Array.from({ length: POINTS }, () => {
    const batch = 1 + Math.floor(random() * 256);
    const speedup = 0.5 + 2 * random();
    return [Math.floor(random() * 4), Math.floor(random() * 3), Math.floor(random() * 9), batch, Math.floor(random() * 1e5), speedup, 5 + batch / 8, 40 * batch * speedup, 20 + 60 * random()];
  });
  const axes = ['batch', 'context'].map((name) => ({ name, values: Array.from({ length: 100 }, (_, i) => String(1 + i)) }));
  const cells = axes[0].values.flatMap((_, x) => axes[1].values.map((__, y) => [x, y, 1 + random(), 0]));
  return {
    axes,
    maps: [{ x: 0, y: 1, cells }],
    by: { column: 'speedup', better: 'higher' },
    configurations: ['EAGLE-3 on h100-sxm'],
    points: { columns, rows, categories: { device: ['a', 'b', 'c', 'd'], drafter: ['e', 'f', 'g'] } },
  };
}

const section = (page) => page.locator('section', { has: page.getByRole('heading', { name: 'The design space' }) });

/**
 * From the next event of this type on an element: milliseconds until the frame after `change` holds, the longest frame until the canvas is
 * no longer busy, and the milliseconds until then.
 */
const timed = (locator, type, change) =>
  locator.evaluate(
    (node, [event, source]) => {
      const changed = new Function('node', `return (${source})(node)`);
      window.response = new Promise((resolve) => {
        const listen = () => {
          const start = performance.now();
          let [answer, last, longest] = [null, start, 0];
          const look = () => {
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
            if (answer !== null && node.getAttribute('aria-busy') !== 'true') {
              resolve({ answer, longest, all: now - start });
              return;
            }
            if (answer === null && changed(node)) requestAnimationFrame(() => (answer = performance.now() - start));
            requestAnimationFrame(look);
          };
          look();
        };
        node.addEventListener(event, listen, { once: true, capture: true });
      });
    },
    [type, change],
  );
const answered = (page) => page.evaluate(() => window.response);
const drawn = (canvas) => eventually(async () => assert.equal(await canvas.getAttribute('aria-busy'), 'false'));

export const checks = ({ data, withReport, render }) => ({
  'a hundred thousand points answer to the pointer': async () => {
    const space = manyPoints();
    await withReport({}, async (page) => {
      const [map, lines] = [section(page).locator('canvas').first(), section(page).locator('canvas').last()];
      await drawn(lines);
      await map.scrollIntoViewIfNeeded();
      const place = await map.boundingBox();
      const notes = [];
      for (let i = 0; i < REPEATS; i += 1) {
        await page.mouse.move(place.x + 5, place.y + 5);
        await timed(map, 'pointermove', '(node) => !node.nextSibling.hidden');
        await page.mouse.move(place.x + 300 + 20 * i, place.y + 100);
        notes.push((await answered(page)).answer);
      }
      // Drag along the axis of batches (the fourth of nine): what lies between is kept.
      await lines.scrollIntoViewIfNeeded();
      const box = await lines.boundingBox();
      const x = box.x + 60 + (3 * (box.width - 120)) / 8;
      const [top, bottom] = [50, 380 - 28];
      const heightOf = (batch) => bottom - (Math.log(batch) / Math.log(256)) * (bottom - top);
      const brushes = [];
      const frames = [];
      const lasts = [];
      for (let i = 0; i < REPEATS; i += 1) {
        const [from, to] = [100 + 10 * i, 300];
        const expected = space.points.rows.filter((row) => heightOf(row[3]) >= from && heightOf(row[3]) <= to).length;
        await timed(lines, 'pointerup', "(node) => node.getAttribute('aria-busy') === 'true'");
        await page.mouse.move(x, box.y + from);
        await page.mouse.down();
        await page.mouse.move(x, box.y + to);
        await page.mouse.up();
        const { answer, longest, all } = await answered(page);
        brushes.push(answer);
        frames.push(longest);
        lasts.push(all);
        const text = await section(page).locator('p.note').last().textContent();
        const kept = Number(text.split(' of ')[0].replaceAll(',', ''));
        assert.ok(Math.abs(kept - expected) <= 0.01 * POINTS, `${text} instead of ${expected}`);
        assert.ok(kept > 0 && kept < POINTS, text);
      }
      const least = { note: Math.min(...notes), brush: Math.min(...brushes), frame: Math.min(...frames), all: Math.min(...lasts) };
      for (const [what, goal] of Object.entries(GOALS)) {
        console.log(`        ${POINTS} points: ${what} ${least[what].toFixed(0)} ms, goal ${goal} ms`);
        assert.ok(least[what] <= goal, `${what} takes ${least[what]} ms; the goal is ${goal} ms`);
      }
    }, render('space', { ...data, space }));
  },
});
