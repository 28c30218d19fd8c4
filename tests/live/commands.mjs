// Does a copied command ask the same question? node commands.mjs <program> <questions>
// Random questions go to the program as a file and as the command that the live page copies for them; the answers must be equal.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf } from '../../reports/page/live/command.js';
import { catalogueOf, randomQuestions } from './random_questions.mjs';

const [program, count] = process.argv.slice(2);
const run = (words, options) => spawnSync(words[0], words.slice(1), { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
const withoutInput = (text) => JSON.stringify({ ...JSON.parse(text), input: null });

const work = mkdtempSync(join(tmpdir(), 'treeline-commands-'));
const file = join(work, 'question.json');
const questions = randomQuestions(catalogueOf(program), 5);
const counts = { equal: 0, refused: 0, different: 0 };
try {
  for (let i = 0; i < Number(count); i += 1) {
    const question = questions.next().value;
    writeFileSync(file, JSON.stringify(question));
    const asked = run([program, 'recommend', file, '--format', 'json']);
    if (asked.status !== 0) {
      counts.refused += 1;
      continue;
    }
    const command = commandOf(question);
    const pasted = run(['bash', '-c', `${command.replace(/^treeline/, '"$PROGRAM"')} --format json`], {
      env: { ...process.env, PROGRAM: program },
    });
    const equal = pasted.status === 0 && withoutInput(pasted.stdout) === withoutInput(asked.stdout);
    counts[equal ? 'equal' : 'different'] += 1;
    if (!equal) console.log(`DIFFERENT: ${JSON.stringify(question)}\n${command}\n${pasted.stderr}`);
  }
} finally {
  rmSync(work, { recursive: true });
}
console.log(`${counts.equal} equal, ${counts.different} different; ${counts.refused} questions have no answer`);
process.exit(counts.different === 0 && counts.equal >= Number(count) / 3 ? 0 : 1);
