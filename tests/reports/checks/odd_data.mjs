// What do hostile, missing and overlong data do?
import assert from 'node:assert/strict';
import { readCharts } from '../report_page.mjs';

export const checks = ({ data, withReport, render, noOverflow }) => ({
  'hostile strings stay text everywhere': async () => {
    const attacks = [
      '</script><script>alert(1)</script>',
      '<img src=x onerror=alert(2)>',
      '"><svg onload=alert(3)>',
      '<!--',
      '__proto__',
      '${alert(4)}',
      "'+alert(5)+'",
      'a.b[0]\\"c',
    ];
    let next = 0;
    const names = ['format', 'key', 'phase', 'configuration', 'bound', 'unit'];
    const keep = new Set([...names, 'id', 'mark', 'series', 'low', 'high', 'points', 'hollow', 'end']);
    const poison = (value, key) => {
      if (typeof value === 'string') return keep.has(key) ? value : `${attacks[next++ % attacks.length]} ${value}`;
      if (Array.isArray(value)) return value.map((entry) => poison(entry, key));
      if (value && typeof value === 'object')
        return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, poison(entry, name)]));
      return value;
    };
    await withReport(
      { width: 1000 },
      async (page) => {
        assert.match(await page.locator('h1').textContent(), /<\/script><script>alert\(1\)<\/script>/);
        assert.equal(await page.locator('#page img, #page script, #page [onload], #page [onerror]').count(), 0);
        for (const { id, counts } of await readCharts(page)) assert.ok(Object.keys(counts).length > 0, id);
        await page.locator('#pareto-chart svg g.mark-symbol > path').last().hover();
        assert.equal(await page.locator('#vg-tooltip-element img, #vg-tooltip-element script').count(), 0);
        await page.locator('#pareto-chart summary').click();
        await page.locator('#pareto-chart .numbers tbody tr').first().waitFor();
        await noOverflow(page);
      },
      render('hostile', poison(data)),
    );
  },

  'a section without data is left out, and long names do not break a phone': async () => {
    await withReport(
      {},
      async (page) => assert.equal(await page.locator('main > section').count(), 1),
      render('smallest', { title: 'Smallest', summary: { sentence: 'Run this.' } }),
    );
    const long = structuredClone(data);
    const name = 'a-drafter-with-a-name-that-never-ends-'.repeat(4);
    for (const rows of [long.by_draft_length, long.pareto, long.schedule, long.candidates.rows])
      rows.forEach((row) => {
        if (row.drafter) row.drafter = name + row.drafter;
      });
    long.uncertainty.inputs[0].name = name;
    long.round.forEach((row) => {
      if (row.configuration !== 'plain decoding') row.configuration = name;
    });
    for (const figure of long.sections[0].figures.filter(({ mark }) => mark === 'bar'))
      figure.rows.forEach((row) => {
        row[figure.x.key] = `${row[figure.x.key]} of every state in memory`;
      });
    const pageOfLongNames = render('long', long);
    for (const width of [360, 1280]) {
      await withReport(
        { width },
        async (page) => {
          await noOverflow(page);
          for (const { id, outside } of await readCharts(page)) assert.deepEqual(outside, [], `${id} at ${width} px`);
        },
        pageOfLongNames,
      );
    }
  },
});
