// The board of predictions against measurements: its filters choose, and every figure follows them.
import assert from 'node:assert/strict';

const TEXTS = ['what', 'mode', 'kind', 'model', 'device', 'engine', 'source', 'fitted', 'row', 'stated_at'];

/** Rows of the data from objects. */
function boardOf(rows, leftOut) {
  const categories = Object.fromEntries(TEXTS.map((key) => [key, [...new Set(rows.map((row) => row[key]))]]));
  return {
    columns: [...TEXTS, 'batch', 'measured', 'predicted', 'percent', 'record'],
    categories,
    rows: rows.map((row) => [
      ...TEXTS.map((key) => categories[key].indexOf(row[key])),
      row.batch,
      row.measured,
      row.predicted,
      100 * (row.predicted / row.measured - 1),
      null,
    ]),
    left_out: leftOut,
  };
}

const row = (more) => ({
  what: 'time per token (ms)',
  mode: 'calibrated',
  kind: 'dense models',
  model: 'llama-3.1-8b',
  device: 'h100-sxm',
  engine: 'vLLM',
  source: 'one',
  fitted: 'nothing fitted to its source',
  row: 'r',
  stated_at: 'table 1',
  batch: 1,
  measured: 10,
  predicted: 11,
  ...more,
});

export const checks = ({ data, withReport, render, noOverflow }) => ({
  'filters of the board choose the rows, and figures, sources and what was left out follow': () =>
    withReport(
      {},
      async (page) => {
        const board = page.locator('#board');
        const status = async () => (await board.locator('.board-figures').textContent()).replaceAll('\u00a0', ' ');
        const list = (label) => board.locator('.choice').filter({ has: page.locator(`span:text-is("${label}")`) }).locator('select');
        const choose = (label, option) => list(label).selectOption(option);
        const shapes = () => board.locator('svg .mark-symbol path').count();
        // Errors of 10 %, 20 % and 30 %: the middle one, and 0.8 of the way from it to the largest.
        assert.equal(await status(), '3 rows of 2 sources: median error 20.0 %, 90th percentile 28.0 %, bias 10.0 %. 3 rows of all sources left out.');
        assert.equal(await shapes(), 3);
        await choose('Engine', 'SGLang');
        assert.match(await status(), /^1 row of 1 source: median error 30.0 %/);
        assert.equal(await shapes(), 1);
        assert.deepEqual(await list('Source').locator('option').allTextContents(), ['all (1)', 'two (1)'], 'lists offer what is there');
        await choose('Engine', '');
        await choose('Source', 'one');
        assert.match(await status(), /^2 rows of 1 source: .* 2 rows of one left out\.$/);
        await choose('Source', '');
        await choose('What is predicted', 'speed-up (times)');
        assert.match(await status(), /^1 row of 1 source: median error 50.0 %/);
        assert.equal(await board.getByText('<b>not a tag</b>').count(), 1);
        await noOverflow(page);
      },
      render('board', {
        ...data,
        board: boardOf(
          [
            row({}),
            row({ predicted: 8, model: 'qwen3-32b' }),
            row({ predicted: 13, source: 'two', engine: 'SGLang' }),
            row({ what: 'speed-up (times)', measured: 2, predicted: 3 }),
            row({ mode: 'roofline', predicted: 20 }),
          ],
          [
            { source: 'one', row: 'left', reason: 'no description', detail: '<b>not a tag</b>' },
            { source: 'one', row: 'left too', reason: 'suspect', detail: '' },
            { source: 'two', row: 'left as well', reason: 'suspect', detail: '' },
          ],
        ),
      }),
    ),
});
