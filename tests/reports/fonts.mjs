// The families in which the page is looked at. A family is forced by a fontconfig file under which no other one exists, so that whatever is
// installed, the page looks as it does on a machine that has only this one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './chromium.mjs';

/** From wide to narrow; all come with Debian's fonts-dejavu-core and fonts-liberation (version 1). */
export const families = [
  { sans: 'DejaVu Sans Mono', mono: 'DejaVu Sans Mono' }, // wider than any family that a browser takes for text
  { sans: 'DejaVu Sans', mono: 'DejaVu Sans Mono' }, // all that a bare Debian has
  { sans: 'Liberation Sans', mono: 'Liberation Mono' }, // as wide as Arial and Helvetica
  { sans: 'Liberation Sans Narrow', mono: 'Liberation Mono' },
];

/** Writes a fontconfig file that hides all families but these two into `folder`; returns the environment that makes programs use it. */
export function fontEnvironment({ sans, mono }, folder) {
  const name = sans.replaceAll(' ', '-');
  const cache = join(folder, `fonts-${name}`);
  mkdirSync(cache, { recursive: true });
  const pattern = (family) => `<pattern><patelt name="family"><string>${family}</string></patelt></pattern>`;
  const alias = (generic, family) => `<alias binding="same"><family>${generic}</family><prefer><family>${family}</family></prefer></alias>`;
  const file = join(cache, 'fonts.conf');
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>/usr/share/fonts</dir><cachedir>${cache}</cachedir>
<selectfont><rejectfont><pattern><patelt name="scalable"><bool>true</bool></patelt></pattern></rejectfont><acceptfont>${pattern(sans)}${pattern(mono)}</acceptfont></selectfont>
${alias('sans-serif', sans)}${alias('serif', sans)}${alias('monospace', mono)}</fontconfig>`,
  );
  return { FONTCONFIG_FILE: file };
}

/** Browsers that are started when they are asked for, and keep their fonts in `folder`. */
export class Browsers {
  #folder;
  #started = new Map();

  constructor(folder) {
    this.#folder = folder;
  }

  /** The one in which only the fonts of `family` exist; without a family, all that are installed. */
  async with(family) {
    const name = family?.sans ?? 'all';
    if (!this.#started.has(name)) this.#started.set(name, await launch(family ? fontEnvironment(family, this.#folder) : {}));
    return this.#started.get(name);
  }

  async close() {
    for (const browser of this.#started.values()) await browser.close();
  }
}

/** Only the two families of `family` drew what the selectors find: [selector, sans or mono]. */
export async function drawnIn(page, family, selectors) {
  for (const [selector, kind] of selectors) {
    const counts = await familiesOf(page, selector);
    const others = Object.entries(counts).filter(([name]) => name !== family[kind]);
    const most = others.reduce((sum, [, glyphs]) => Math.max(sum, glyphs), 0);
    if (!(counts[family[kind]] > 20) || most > 2) // a sign that the family lacks
      throw new Error(`${selector} should be drawn in ${family[kind]}: ${JSON.stringify(counts)}`);
  }
}

/** The families in which the browser really drew the nodes that match `selector`, with how many glyphs each. */
export async function familiesOf(page, selector) {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root } = await session.send('DOM.getDocument', { depth: 0 });
  const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector });
  const counts = {};
  for (const nodeId of nodeIds) {
    const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
    for (const { familyName, glyphCount } of fonts) counts[familyName] = (counts[familyName] ?? 0) + glyphCount;
  }
  await session.detach();
  return counts;
}
