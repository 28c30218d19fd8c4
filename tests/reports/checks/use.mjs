// Can a reader use the report: find, sort, filter, zoom, take along?
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { eventually } from '../eventually.mjs';

const firstColumn = (page, index) => page.locator(`#candidates tbody tr td:nth-child(${index})`).allTextContents();

export const checks = ({ data, withReport, render }) => ({
  'every section of the data is there, under its heading, without a complaint of the browser': () =>
    withReport({}, async (page) => {
      assert.equal(await page.title(), data.title);
      assert.equal(await page.locator('h1').textContent(), data.title);
      assert.equal(await page.locator('main > section').count(), 15 + data.sections.length);
      assert.equal(await page.locator('.answer').textContent(), data.summary.sentence);
      const links = await page.locator('.contents a').evaluateAll((nodes) => nodes.map((node) => node.hash.slice(1)));
      for (const id of links) assert.equal(await page.locator(`section#${id} h2`).count(), 1, id);
    }),

  'the candidate table sorts, filters, shows all and leaves as CSV': () =>
    withReport({}, async (page) => {
      const speedup = data.candidates.columns.findIndex((column) => column.key === 'speedup') + 1;
      const header = page.locator('#candidates thead th').nth(speedup - 1);
      await page.getByRole('button', { name: /^Show all/ }).click();
      const all = data.candidates.rows.map((row) => row.speedup);
      for (const [direction, extreme] of [
        ['descending', Math.max(...all)],
        ['ascending', Math.min(...all)],
      ]) {
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
      assert.match(
        await page.locator('#candidates [role=status]').textContent(),
        new RegExp(`^${wanted.length} of ${all.length} rows`),
      );
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('#candidates').getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      const lines = readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\r\n');
      assert.equal(download.suggestedFilename(), 'candidates.csv');
      assert.equal(lines.length, wanted.length + 1);
      assert.equal(lines[0].split(',').length, data.candidates.columns.length);
    }),

  'the filter takes words, numbers as numbers, and phrases': async () => {
    const changed = structuredClone(data);
    const { rows } = changed.candidates;
    rows.forEach((row, i) => {
      row.shape = i === 0 ? 'chain 20' : i === 1 ? 'tree 2 of 8' : `chain ${row.draft_tokens}`;
      row.batch = i === 2 ? 1024 : row.batch;
    });
    const having = (test) => rows.filter(test).length;
    const chains = having((row) => row.shape === 'chain 2');
    const ofDrafter = (name) => (row) => row.drafter.includes(name);
    await withReport(
      {},
      async (page) => {
        const count = async (typed) => {
          await page.getByLabel('Filter candidates').fill(typed);
          return Number((await page.locator('#candidates [role=status]').textContent()).match(/^\d+/)[0]);
        };
        assert.ok(chains > 5 && rows.length > chains + 5);
        assert.equal(await count('chain 2'), chains, 'a number belongs to the word before it, and 2 is not 20');
        assert.equal(await count('"chain 2"'), chains);
        assert.equal(await count('"CHAIN 2'), chains, 'while the quote is still open');
        assert.equal(await count('chain 20'), 1);
        assert.equal(await count('"tree 2 of"'), 1);
        assert.equal(await count('"2 tree"'), 0, 'a phrase lies in one cell, in this order');
        assert.equal(await count('llama chain 2'), having((row) => row.shape === 'chain 2' && ofDrafter('llama')(row)));
        assert.equal(await count('1024'), 1, 'a thousands separator need not be typed');
        assert.equal(await count('1,024'), 1);
        assert.equal(await count('eag'), having(ofDrafter('eag')), 'the beginning of a word is enough');
        assert.equal(await count(''), rows.length);
      },
      render('phrases', changed),
    );
  },

  'the first columns stay in sight when the table is scrolled sideways, and the objective is marked': async () => {
    for (const [width, least] of [
      [360, 1],
      [1280, 3],
    ]) {
      await withReport({ width }, async (page) => {
        const places = () =>
          page.locator('#candidates').evaluate((section) => {
            const box = section.querySelector('.scroll').getBoundingClientRect();
            return [...section.querySelectorAll('thead tr > *, tbody tr:first-child > *')].map((cell) => {
              const place = cell.getBoundingClientRect();
              const seen = document.elementFromPoint(place.left + place.width / 2, place.top + place.height / 2);
              return { left: place.left - box.left, onTop: cell.contains(seen) };
            });
          });
        await page.locator('#candidates .scroll').scrollIntoViewIfNeeded();
        const before = await places();
        const scrolled = await page.locator('#candidates .scroll').evaluate((node) => {
          node.scrollLeft = 300;
          return node.scrollLeft;
        });
        assert.ok(scrolled > 100, 'the table is wider than its box');
        const after = await places();
        const half = before.length / 2; // headings, then the first row
        for (const row of [0, half]) {
          for (let column = 0; column < least; column += 1) {
            assert.ok(Math.abs(after[row + column].left - before[row + column].left) < 1.5, `column ${column} at ${width} px`);
            assert.ok(after[row + column].onTop, `column ${column} at ${width} px is covered`);
          }
          assert.ok(after[row + half - 1].left < before[row + half - 1].left - 100, 'the last column moves');
        }
      });
    }
    await withReport({}, async (page) => {
      const marked = data.candidates.columns.filter((column) => column.objective);
      assert.equal(await page.locator('#candidates th .objective').count(), 1);
      assert.match(await page.locator('#candidates th:has(.objective)').textContent(), new RegExp(`^${marked[0].title}`));
    });
  },

  'the schedule shows the least and the greatest speed-up of each range': () =>
    withReport({}, async (page) => {
      const shown = await page.locator('#schedule > .scroll tbody tr').allTextContents();
      assert.equal(shown.length, data.schedule.length);
      data.schedule.forEach(({ draft_tokens: drafted, least, greatest }, i) => {
        const ends = drafted === 0 ? 'off' : `${least.toFixed(2)}×${least === greatest ? '' : ` to ${greatest.toFixed(2)}×`}`;
        assert.ok(shown[i].includes(ends), `${shown[i]} should say ${ends}`);
      });
      const labels = await page.locator('#schedule-chart svg .mark-text').allTextContents();
      assert.ok(labels.some((label) => label.includes('1.66×') && label.includes('to 1.78×')), labels.join(' | '));
    }),

  'flags and schedule lie in the first window, memory and trust come next': () =>
    withReport({ width: 1280, height: 1200 }, async (page) => {
      const ends = await page.evaluate(() =>
        ['.commands', '#schedule > .scroll'].map((selector) => document.querySelector(selector).getBoundingClientRect().bottom),
      );
      assert.ok(ends.every((bottom) => bottom > 0 && bottom <= 1200), `flags and schedule end at ${ends} px`);
      const order = await page.locator('main > section').evaluateAll((nodes) => nodes.map((node) => node.id));
      assert.deepEqual(order.slice(0, 4), ['what-to-run', 'schedule', 'memory', 'trust']);
    }),

  'engines are tabs by mouse and keyboard, flags scroll, and an engine that cannot run it says why': () =>
    withReport({ width: 600 }, async (page) => {
      const tab = (name) => page.getByRole('tab', { name });
      const shown = () => page.locator('.command:visible').allTextContents();
      assert.equal(await page.getByRole('tab').count(), data.summary.commands.length);
      assert.equal(await tab(/vLLM/).getAttribute('aria-selected'), 'true');
      assert.match((await shown()).join(), /num_speculative_tokens_per_batch_size/);
      const flags = page.locator('.command:visible pre');
      assert.ok(await flags.evaluate((node) => node.scrollWidth > node.clientWidth + 100), 'long flags scroll');
      await tab(/vLLM/).focus();
      await page.keyboard.press('ArrowRight');
      assert.match((await shown()).join(), /^Flags for SGLang/);
      await tab(/llama/).click();
      assert.deepEqual(await shown(), ['llama.cpp (b9987) cannot run itit has no tensor parallelism of this kind.']);
    }),

  'figures stand beside those of the server without a drafter': () =>
    withReport({}, async (page) => {
      const figures = await page.locator('#what-to-run .metrics li').allTextContents();
      assert.ok(figures.some((text) => /^TPOT5\.22.ms.*plain: 9\.34.ms/.test(text)), figures.join(' | '));
      assert.match(await page.locator('#memory > p').first().textContent(), /largest batch is 512 without the drafter and 480 with it/);
    }),

  'a list of causes is numbered': () =>
    withReport({}, async (page) => {
      const items = page.locator('#fixture-figures > ol > li');
      assert.deepEqual(await items.allTextContents(), data.sections[0].list);
    }),

  'a table that is wider than its box says so until its end is reached': () =>
    withReport({ width: 700 }, async (page) => {
      const frame = page.locator('#candidates .scroll-frame');
      const words = page.locator('#candidates .scroll-words');
      assert.match(await words.textContent(), /scroll sideways/);
      assert.ok(await words.isVisible());
      assert.match(await frame.getAttribute('class'), /more-right/);
      await page.locator('#candidates .scroll').evaluate((node) => {
        node.scrollLeft = node.scrollWidth;
      });
      await eventually(async () => assert.doesNotMatch(await frame.getAttribute('class'), /more-right/));
      assert.equal(await page.locator('#excluded .scroll-words:visible').count(), 0);
    }),

  'a row with details opens and closes by mouse and keyboard, and shows text as text': () =>
    withReport({}, async (page) => {
      const details = page.locator('#records tr.details');
      const opener = page.locator('#records').getByRole('button', { name: 'joint, 2 x 6' });
      assert.equal(await details.isVisible(), false);
      await page.locator('#records tbody tr').first().locator('td').last().click();
      assert.equal(await opener.getAttribute('aria-expanded'), 'true');
      assert.deepEqual(await details.locator('dt').allTextContents(), ['cell', 'verify', 'draft']);
      assert.deepEqual(await details.locator('dd').allTextContents(), ['a paper’s table 3', '14.1 ms', '<b>2 ms</b>']);
      await opener.press('Enter');
      assert.equal(await details.isVisible(), false);
      assert.equal(await page.locator('#records button.opens').count(), 1);
    }),

  'a click on a mark opens the row behind it, whatever the filter hides': () =>
    withReport({}, async (page) => {
      await page.getByLabel('Filter records').fill('plain');
      await page.locator('#fixture-parity svg .mark-symbol path').first().click();
      assert.equal(await page.locator('#records tr.details').isVisible(), true);
      assert.equal(await page.getByLabel('Filter records').inputValue(), '');
    }),

  'the heading of a long table stays in sight': () =>
    withReport({}, async (page) => {
      const scroller = page.locator('#candidates .scroll');
      await scroller.evaluate((node) => {
        node.scrollTop = 1500;
      });
      const [box, heading] = [await scroller.boundingBox(), await page.locator('#candidates thead th').first().boundingBox()];
      assert.ok(Math.abs(heading.y - box.y) < 3);
    }),

  'legend, lists and zoom change the chart; a plain wheel scrolls the page': () =>
    withReport({}, async (page) => {
      const chart = page.locator('#draft-length-chart');
      const symbols = () => chart.locator('svg g.mark-symbol > path').count();
      const ticks = async () => (await page.locator('#pareto-chart .role-axis-label text').allTextContents()).sort();
      const whole = await symbols();
      await chart.locator('button.series').first().click();
      await eventually(async () => assert.ok((await symbols()) < whole));
      await chart.getByRole('combobox').first().selectOption({ index: 1 });
      await eventually(async () => assert.ok((await symbols()) < whole / 2));
      const before = await ticks();
      await page.getByRole('button', { name: /^Zoom in: Tokens/ }).click();
      await eventually(async () => assert.notDeepEqual(await ticks(), before));
      await page.getByRole('button', { name: /^Reset zoom: Tokens/ }).click();
      await eventually(async () => assert.deepEqual(await ticks(), before));
      await page.locator('#pareto-chart .plot').hover();
      const top = await page.evaluate(() => scrollY);
      await page.mouse.wheel(0, 200);
      await page.waitForFunction((was) => scrollY > was, top);
      assert.deepEqual(await ticks(), before);
    }),

  'a mark under the pointer explains itself': () =>
    withReport({}, async (page) => {
      await page.locator('#speedup-map svg g.mark-rect > path').first().hover();
      const tooltip = page.locator('#vg-tooltip-element.visible');
      await tooltip.waitFor();
      assert.match(await tooltip.textContent(), /Batch.*Context.*Speed-up.*×/);
    }),

  'the numbers behind each chart and pictures of it can be had': () =>
    withReport({}, async (page) => {
      await page.locator('#pareto-chart summary').click();
      const rows = page.locator('#pareto-chart .numbers tbody tr');
      await eventually(async () => assert.equal(await rows.count(), Math.min(100, data.pareto.length)));
      for (const [kind, start] of [
        ['SVG', '<svg'],
        ['PNG', '\x89PNG'],
      ]) {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page
            .locator('#pareto-chart')
            .getByRole('button', { name: new RegExp(`as ${kind}$`) })
            .click(),
        ]);
        assert.equal(readFileSync(await download.path(), 'latin1').slice(0, start.length), start);
      }
    }),
});
