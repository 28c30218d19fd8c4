// Debian's Chromium, headless, with a fresh profile and without its own traffic.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const BINARY = process.env.TREELINE_CHROMIUM ?? '/usr/bin/chromium';

export const hasChromium = () => existsSync(BINARY);
export const binary = BINARY;

const sharing = new WeakMap(); // browser: the context of its tabs

/**
 * A page of `browser`. All of them live in one process, which starts once and keeps what it has compiled: half of the time that a page with
 * its own process and context takes. What a page stored is gone with `close`.
 */
export async function openTab(browser, { width = 1280, height = 900, scheme = 'light' } = {}) {
  if (!sharing.has(browser)) sharing.set(browser, sharedContext(browser));
  const page = await (await sharing.get(browser)).newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme });
  const close = async () => {
    if (page.isClosed()) return;
    await page.evaluate(() => localStorage.clear()).catch(() => {}); // a page that says nothing stores nothing
    await page.close();
  };
  return { page, close };
}

async function sharedContext(browser) {
  const context = await browser.newContext({ acceptDownloads: true });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const kept = await context.newPage(); // the process ends with its last page
  await kept.goto('file:///');
  return context;
}

/** Playwright gives each launch its own temporary profile. `environment` is added to that of this process. */
export function launch(environment = {}) {
  return chromium.launch({
    executablePath: BINARY,
    headless: true,
    env: { ...process.env, ...environment },
    chromiumSandbox: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--process-per-site',
    ],
  });
}
