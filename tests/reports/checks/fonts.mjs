// Does the page keep its shape in every family of fonts: wide and narrow, on a desk, on a phone and on paper?
import assert from 'node:assert/strict';
import { drawnIn, families } from '../fonts.mjs';
import { readCharts } from '../report_page.mjs';

const LOOKS = [
  { name: 'a desk', width: 1280 },
  { name: 'a phone', width: 360 },
  { name: 'a tablet', width: 700, dark: true },
  { name: 'paper', width: 700, print: true },
];

/** The widest and the narrowest: what holds together in both does so in those between. */
const isExtreme = (family) => [families[0], families.at(-1)].includes(family);

const DRAWN = [
  ['h1, p, th button', 'sans'],
  ['.plot text', 'sans'],
  ['.command pre', 'mono'],
];

/** Pixels of the same words in the family at hand. */
const widthOfWords = (page) =>
  page.evaluate(() => {
    const words = document.createElement('span');
    words.textContent = 'attention: gate and up projection, 1,234 tokens/s';
    words.style.cssText = 'position: absolute; font: 16px var(--sans)';
    document.body.append(words);
    const { width } = words.getBoundingClientRect();
    words.remove();
    return width;
  });

async function holdsTogether(page, where, noOverflow) {
  await noOverflow(page);
  for (const { id, outside, touching, wide } of await readCharts(page)) {
    assert.deepEqual(outside, [], `${id} on ${where}: outside the picture`);
    assert.deepEqual(touching, [], `${id} on ${where}: numbers on one another`);
    assert.ok(!wide, `${id} on ${where} is wider than its box`);
  }
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('h1, h2, h3, .metric-value, .metric-name, button, select, .swatch, .margin-label span')]
      .filter((node) => node.checkVisibility() && !node.closest('.scroll'))
      .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5 || node.getBoundingClientRect().left < -0.5)
      .map((node) => node.textContent),
  );
  assert.deepEqual(cut, [], `cut at the edge of ${where}`);
}

export const checks = ({ withReport, noOverflow }) => {
  const widths = [];
  const each = Object.fromEntries(
    families.map((family) => [
      `the page holds together in ${family.sans}, whatever else is installed`,
      async () => {
        for (const { name, print, ...look } of isExtreme(family) ? LOOKS : LOOKS.slice(0, 1)) {
          await withReport({ ...look, family }, async (page) => {
            if (print) await page.emulateMedia({ media: 'print' });
            await holdsTogether(page, `${name} in ${family.sans}`, noOverflow);
            if (look.width > 700) {
              await drawnIn(page, family, DRAWN);
              widths.push(await widthOfWords(page));
            }
          });
        }
      },
    ]),
  );
  return {
    ...each,
    'the families are as different as they should be': async () => {
      assert.equal(widths.length, families.length);
      widths.slice(1).forEach((width, i) => assert.ok(width < 0.95 * widths[i], `widths of the same words: ${widths.join(', ')}`));
    },
  };
};
