// Debian's Chromium, headless, with a fresh profile and without its own traffic.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const BINARY = process.env.TREELINE_CHROMIUM ?? '/usr/bin/chromium';

export const hasChromium = () => existsSync(BINARY);
export const binary = BINARY;

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
    ],
  });
}
