// node screenshot.mjs <report.html> <picture.png> [--width 1280] [--height 900] [--dark] [--print] [--section id] [--font family]
// A picture of the whole report (or of one section) as a reader would see it, with a family of fonts.mjs as if it were the only one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from './chromium.mjs';
import { families, fontEnvironment } from './fonts.mjs';

const {
  values: options,
  positionals: [report, picture],
} = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: 'string', default: '1280' },
    height: { type: 'string', default: '900' },
    section: { type: 'string' },
    font: { type: 'string' },
    dark: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
  },
});
if (!report || !picture) {
  console.error(
    'usage: node screenshot.mjs <report.html> <picture.png> [--width 1280] [--height 900] [--dark] [--print] [--section id] [--font family]',
  );
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'treeline-fonts-'));
const family = families.find(({ sans }) => sans === options.font);
if (options.font && !family) {
  console.error(`--font: one of ${families.map(({ sans }) => sans).join(', ')}`);
  process.exit(2);
}
const browser = await launch(family ? fontEnvironment(family, folder) : {});
try {
  const page = await browser.newPage({
    viewport: { width: Number(options.width), height: Number(options.height) },
    colorScheme: options.dark ? 'dark' : 'light',
  });
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForSelector('html[data-ready]');
  if (options.print) await page.emulateMedia({ media: 'print' });
  await page.waitForTimeout(200);
  const target = options.section ? page.locator(`#${options.section}`) : page;
  await target.screenshot({ path: picture, fullPage: true });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
