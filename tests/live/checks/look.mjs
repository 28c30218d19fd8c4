// How the page looks: in every width and theme, on paper, and to those who cannot see it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { field, settled } from '../live_page.mjs';
import { drawnIn, families } from '../../reports/fonts.mjs';

const tests = join(dirname(fileURLToPath(import.meta.url)), '../../reports/');
const axe = () => readFileSync(createRequire(tests).resolve('axe-core/axe.min.js'), 'utf8');

export const checks = ({ live }) => ({
  async 'nothing is wider than the window'() {
    const { page, close } = await live.open({ width: 320 });
    for (const width of [320, 390, 768, 1019, 1020, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const { content, window } = await page.evaluate(() => ({
        content: document.scrollingElement.scrollWidth,
        window: innerWidth,
      }));
      assert.equal(window, width);
      assert.ok(content <= window, `the page is ${content} px wide in a window of ${window} px`);
    }
    await close();
  },

  async 'it holds together in wide and narrow fonts'() {
    for (const family of families) {
      const { page, close } = await live.open({ family });
      await drawnIn(page, family, [
        ['h1, h2, p, label', 'sans'],
        ['svg text', 'sans'],
        ['.command pre', 'mono'],
      ]);
      for (const [width, media] of [
        [1280, 'screen'],
        [360, 'screen'],
        [700, 'print'],
      ]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ media });
        const cut = await page.evaluate(() =>
          [...document.querySelectorAll('h1, h2, h3, label, input, select, button, .metric-value, .metric-name')]
            .filter((node) => node.checkVisibility() && !node.closest('.scroll, .table-scroll, .tree-scroll'))
            .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5 || node.getBoundingClientRect().left < -0.5)
            .map((node) => node.textContent),
        );
        assert.deepEqual(cut, [], `cut at the edge of ${width} px in ${family.sans}`);
        assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), `${width} px are too few in ${family.sans}`);
      }
      await close();
    }
  },

  async 'axe finds nothing, in both themes and on a phone'() {
    const refused = async (page) => settled(page, () => field(page, 'TPOT at most (ms)').fill('abc'));
    const chains = async (page) => settled(page, () => field(page, 'Device').fill('h200'));
    for (const [options, act] of [[{}, chains], [{}, refused], [{ scheme: 'dark' }, refused], [{ width: 390 }, refused]]) {
      // Playwright's own connection runs it: the page's policy lets no script in.
      const { page, close } = await live.open(options);
      await act(page);
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
      await page.waitForTimeout(100); // folded parts are built when they open
      await page.evaluate(axe());
      const found = await page.evaluate(async () => {
        const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
        return violations.map(
          ({ id, nodes }) =>
            `${id}: ${nodes
              .slice(0, 3)
              .map(({ html }) => html.slice(0, 160))
              .join(' | ')}`,
        );
      });
      assert.deepEqual(found, []);
      await close();
    }
  },

  async 'the theme follows the choice'() {
    const { page, close } = await live.open();
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.getByLabel('Theme').selectOption('dark');
    assert.notEqual(await paper(), light);
    await close();
  },

  async 'paper has the answer and no form'() {
    const { page, close } = await live.open({ scheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('form').isVisible(), false);
    assert.equal(await page.locator('#answer .answer').isVisible(), true);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'light');
    await close();
  },

  async 'nothing moves for those who asked for that'() {
    const { page, close } = await live.open({ media: { reducedMotion: 'reduce' } });
    const moving = await page.evaluate(
      () =>
        [...document.querySelectorAll('*')].filter((node) => {
          const style = getComputedStyle(node);
          return (
            style.animationName !== 'none' ||
            style.transitionDuration.split(', ').some((time) => time !== '0s') ||
            style.scrollBehavior === 'smooth'
          );
        }).length,
    );
    assert.equal(moving, 0);
    await close();
  },
});
