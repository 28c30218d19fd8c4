// Does the live page work for a reader? node page_test.mjs <program> <answer_questions>
// Exit code 0: all checks hold; 1: some do not; 77: skipped, which only TREELINE_SKIP_BROWSER=1 allows.
import { resolve } from 'node:path';
import { binary, hasChromium } from '../reports/chromium.mjs';
import { checks as look } from './checks/look.mjs';
import { checks as page } from './checks/page.mjs';
import { checks as use } from './checks/use.mjs';
import { preparePage } from './live_page.mjs';

if (process.env.TREELINE_SKIP_BROWSER === '1') {
  console.log('Skipped: TREELINE_SKIP_BROWSER is set.');
  process.exit(77);
}
if (!hasChromium()) {
  console.error(
    `No Chromium at ${binary}; install it (Debian: apt-get install chromium), or set TREELINE_SKIP_BROWSER=1 to skip.`,
  );
  process.exit(1);
}

const [program, answers, only = ''] = process.argv.slice(2);
const live = await preparePage(resolve(program), resolve(answers));
console.log(live.real ? 'The page holds the library as WebAssembly.' : 'There is no module: a native process answers.');
const tools = { live, program: resolve(program) };
let failures = 0;
for (const [name, check] of Object.entries({ ...page(tools), ...use(tools), ...look(tools) }).filter(([name]) =>
  name.includes(only),
)) {
  try {
    const said = await check();
    console.log(`${said === 'skipped' ? 'skipped' : 'ok     '} ${name}${said && said !== 'skipped' ? `: ${said}` : ''}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await live.close();
console.log(failures === 0 ? 'All checks hold.' : `${failures} checks failed.`);
process.exit(failures === 0 ? 0 : 1);
