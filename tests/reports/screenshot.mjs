// node screenshot.mjs <report.html> <picture.png> [--width 1280] [--height 900] [--dark] [--print] [--section id]
// A picture of the whole report (or of one section) as a reader would see it.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from './chromium.mjs';

const {
  values: options,
  positionals: [report, picture],
} = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: 'string', default: '1280' },
    height: { type: 'string', default: '900' },
    section: { type: 'string' },
    dark: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
  },
});
if (!report || !picture) {
  console.error(
    'usage: node screenshot.mjs <report.html> <picture.png> [--width 1280] [--height 900] [--dark] [--print] [--section id]',
  );
  process.exit(2);
}

const browser = await launch();
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
}
