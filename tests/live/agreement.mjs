// Does the module answer as the program does? node agreement.mjs <program> <page> <questions> [seed] [chromium]
// Random questions go to both; answers must be equal byte for byte, and refusals sentence for sentence. Exit code 77: there is no module.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inChromium, inNode } from './module.mjs';
import { catalogueOf, randomQuestions } from './random_questions.mjs';

const [program, page, count, seed = '1', where = 'node'] = process.argv.slice(2);
if (!existsSync(page)) {
  console.log(`Skipped: there is no ${page} (wasm/README.md says how it is made).`);
  process.exit(77);
}

const run = (...words) =>
  new Promise((settle, fail) => {
    execFile(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      error === null || typeof error.code === 'number' ? settle({ status: error?.code ?? 0, stdout, stderr }) : fail(error),
    );
  });
const answer = await (where === 'chromium' ? inChromium : inNode)(resolve(page));

const work = mkdtempSync(join(tmpdir(), 'treeline-agreement-'));
const file = join(work, 'question.json');
const questions = randomQuestions(catalogueOf(program), Number(seed));
const counts = { answered: 0, refused: 0, different: 0 };
const times = [];
try {
  for (let i = 0; i < Number(count); i += 1) {
    const text = JSON.stringify(questions.next().value);
    writeFileSync(file, text);
    const began = performance.now();
    let took;
    const [{ status, stdout, stderr }, own] = await Promise.all([
      run('recommend', file, '--format', 'json'),
      answer('recommend', text).finally(() => (took = performance.now() - began)),
    ]);
    if (status === 0) times.push(took);
    if ((i + 1) % 1000 === 0) console.log(`${i + 1} questions, ${counts.different} different`);
    const expected =
      status === 0
        ? stdout
        : JSON.stringify({
            problems: stderr
              .trimEnd()
              .split('\n')
              .map((line) => line.replace(/^treeline: /, '').replaceAll(file, 'workload')),
          });
    counts[status === 0 ? 'answered' : 'refused'] += 1;
    if (own !== expected) {
      counts.different += 1;
      if (counts.different <= 20)
        console.log(
          `DIFFERENT: ${text}\n  program: ${firstDifference(expected, own)}\n  module:  ${firstDifference(own, expected)}`,
        );
    }
  }
} finally {
  rmSync(work, { recursive: true });
  await answer.close?.();
}

function firstDifference(text, other) {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  return text.slice(Math.max(0, at - 60), at + 120).replaceAll('\n', ' ');
}

times.sort((a, b) => a - b);
const place = (share) => times[Math.floor(share * (times.length - 1))]?.toFixed(1);
console.log(
  `${counts.answered} answered, ${counts.refused} refused, ${counts.different} different; module: median ${place(0.5)} ms, p90 ${place(0.9)} ms`,
);
if (counts.different > 0) console.log('FAILED: the page answers otherwise than the program; run scripts/live_module.sh');
if (counts.answered < Number(count) / 2) console.log('FAILED: fewer than half of the questions have an answer');
process.exit(counts.different === 0 && counts.answered >= Number(count) / 2 ? 0 : 1);
