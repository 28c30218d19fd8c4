// Measures a target with and without the drafter, as responses of llama.cpp's server with their `timings`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decode, openModel } from './client.mjs';
import { quantile } from './score.mjs';
import { DRAFTER, FIRST_WORD, TARGETS, writeDescription, writeModel } from './models.mjs';

const DRAFT_TOKENS = [0, 1, 2, 3, 4, 6, 8];
const PROMPTS = [64, 768];
const ANSWER = 32; // tokens
const PROBE = 65; // tokens of the prompt that the machine is measured with
const SETTLED = 0.01; // a further repeat shortens no run by more
const QUIET = 0.06; // rounds of plain decoding do the same work: the slow ones take no more than this longer than the fast ones

/** GGUF files and Treeline's descriptions, kept from one time to the next. */
export function writeModels(folder) {
  for (const [i, model] of [DRAFTER, ...TARGETS].entries()) {
    const path = join(folder, `${model.name}.gguf`);
    if (!existsSync(path)) writeModel(path, model, 1000 * (i + 1));
    writeDescription(join(folder, `${model.name}.json`), model);
  }
}

const promptOf = (length) => [1, ...Array.from({ length: length - 1 }, (_, i) => FIRST_WORD + ((i * 13) % 3000))];
const sum = (values) => values.reduce((a, b) => a + b);

/**
 * One run again. Greedy decoding repeats the same rounds, so each round's least time is what it takes when nothing else runs.
 * Returns by how much that shortened the run, as a share.
 */
async function repeat(run, target, drafter, prompt) {
  const answer = await decode(target, drafter, prompt, { count: ANSWER, draftTokens: run.draftTokens });
  if (run.answer && answer.tokens.join() !== run.answer.tokens.join()) throw new Error(`${run.name} answers differently the second time`);
  const before = run.rounds ? sum(run.rounds) : Infinity;
  run.answer = answer;
  run.rounds = run.rounds ? run.rounds.map((time, i) => Math.min(time, answer.rounds[i])) : answer.rounds;
  return 1 - sum(run.rounds) / before;
}

/** What llama.cpp's server answers, less the text. It counts the token that ends its prompt, too, and starts its clock there. */
function responseOf(run) {
  const { tokens, drafted, accepted } = run.answer;
  const timings = { prompt_n: run.prompt, predicted_n: tokens.length + 1, predicted_ms: sum(run.rounds) };
  if (run.draftTokens > 0) Object.assign(timings, { draft_n: drafted, draft_n_accepted: accepted });
  return { model: run.name, generation_settings: { 'speculative.n_max': run.draftTokens }, timings };
}

/** All runs of one target, and the least times of their rounds so far. */
export class Measurement {
  constructor(folder, model, threads, leastRepeats) {
    Object.assign(this, { folder, model, threads, leastRepeats, settled: false, repeats: 0 });
    this.runs = PROMPTS.flatMap((prompt) => DRAFT_TOKENS.map((draftTokens) => ({ name: model.name, prompt, draftTokens })));
  }

  /** Decodes after every prompt with every draft length, in turn, until the least times have settled or `seconds` are over. Measures `machine`, too. */
  async more(llama, machine, seconds) {
    const limits = { contextSize: Math.max(...PROMPTS) + 4 * ANSWER, threads: this.threads };
    const [target, drafter] = [await openModel(llama, this.path(this.model.name), limits), await openModel(llama, this.path(DRAFTER.name), limits)];
    const prompts = new Map(PROMPTS.map((length) => [length, promptOf(length)]));
    const end = performance.now() + 1000 * seconds;
    do {
      const gains = [];
      for (const run of this.runs) gains.push(await repeat(run, target, drafter, prompts.get(run.prompt)));
      await machine.measure(target, this.model, promptOf(PROBE));
      this.repeats += 1;
      this.settled = this.repeats >= this.leastRepeats && Math.max(...gains) < SETTLED && this.scatter() < QUIET;
    } while (!this.settled && (this.repeats < this.leastRepeats || performance.now() < end));
    await Promise.all([target.close(), drafter.close()]);
  }

  /** How much longer slow rounds of plain decoding take than fast ones, at the worst. */
  scatter() {
    const plain = this.runs.filter((run) => run.draftTokens === 0);
    return Math.max(...plain.map(({ rounds }) => quantile(rounds, 0.9) / quantile(rounds, 0.1) - 1));
  }

  path(model) {
    return join(this.folder, `${model}.gguf`);
  }

  /** Runs that answer something else than plain decoding. */
  lossy() {
    const text = (run) => run.answer.tokens.slice(0, ANSWER).join();
    const plain = new Map(this.runs.filter((run) => run.draftTokens === 0).map((run) => [run.prompt, text(run)]));
    return this.runs.filter((run) => text(run) !== plain.get(run.prompt));
  }

  /** Responses of llama.cpp's server, a line each. */
  responses(wanted = () => true) {
    return this.runs.filter(wanted).map((run) => `${JSON.stringify(responseOf(run))}\n`).join('');
  }
}
