// Questions of every kind that the form can ask, and some that it cannot, drawn at random: many are answered, some are refused.
import { execFileSync } from 'node:child_process';

/** Names of models and devices that the program knows. */
export function catalogueOf(program) {
  const names = (command, list) => {
    const said = execFileSync(program, [command, '--format', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
    return JSON.parse(said)[list].map(({ name }) => name);
  };
  return { models: names('models', 'models'), devices: names('hardware', 'devices') };
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const ENGINES = ['vllm', 'sglang', 'tensorrt-llm', 'llama.cpp', 'none'];
const KINDS = ['eagle3', 'eagle', 'mtp', 'ngram', 'suffix', 'medusa', 'dflash', 'quantised-self'];
const CHECKPOINTS = ['bf16', 'fp8', 'fp8-block', 'int4', 'nvfp4'];
const OF_GGUF = ['bf16', 'int4', 'nvfp4', 'q4_k_m', 'q6_k'];  // which llama.cpp loads

export function* randomQuestions({ models, devices }, seed) {
  const random = generator(seed);
  const whole = (low, high) => low + Math.floor(random() * (high - low + 1));
  const logarithmic = (low, high) => Math.round(low * (high / low) ** random());
  const one = (list) => list[whole(0, list.length - 1)];
  const chance = (share) => random() < share;
  const curve = () => {
    const positions = [];
    for (let i = 0, last = 0.3 + 0.65 * random(); i < whole(1, 8); i += 1, last *= 0.5 + 0.5 * random())
      positions.push(last);
    return positions;
  };
  const acceptance = () =>
    one([
      () => ({ per_position: curve() }),
      () => ({ rate: random() }),
      () => ({ mean_length: 1 + 2 * random(), draft_tokens: 3 }),
    ])();
  const drafter = () => {
    const kind = one(KINDS);
    return { kind, acceptance: acceptance(), ...(kind === 'quantised-self' ? { precision: 'int4' } : {}) };
  };
  const lengths = (low, high) =>
    chance(0.3)
      ? [
          { tokens: logarithmic(low, high), share: random() + 0.1 },
          { tokens: logarithmic(low, high), share: 1 },
        ]
      : logarithmic(low, high);
  const traffic = () => {
    const kind = random();
    if (kind < 0.3)
      return { traffic: { batch: [logarithmic(1, 256), logarithmic(1, 256)], context: logarithmic(64, 60000) } };
    const load =
      kind < 0.8
        ? {
            concurrency: [
              { value: logarithmic(1, 128), share: 0.7 },
              { value: logarithmic(1, 128), share: 0.3 },
            ],
          }
        : { arrival_rate: [0.2 + 8 * random()] };
    return { traffic: load, prompt_tokens: lengths(32, 16000), output_tokens: lengths(16, 3000) };
  };
  while (true) {
    const engine = one(ENGINES);
    const formats = engine === 'llama.cpp' ? OF_GGUF : CHECKPOINTS;
    const question = {
      target: chance(0.4) ? { model: one(models), precision: one(formats) } : one(models),
      platforms: [{ device: one(devices), tensor_parallel: one([1, 1, 2, 4, 8]), engine }],
      ...traffic(),
    };
    if (chance(0.85))
      question.drafters = chance(0.2)
        ? []
        : Array.from({ length: whole(1, 2) }, (_, i) => ({ name: `d${i}`, ...drafter() }));
    if (question.drafters?.length > 0 || chance(0.5)) question.draft_tokens = { from: 1, to: whole(1, 8) };
    if (chance(0.2)) question.limits = { tpot_ms: 2 + 60 * random(), minimum_gain: 1 + 0.2 * random() };
    if (chance(0.2)) question.objective = one(['latency', 'cost', 'energy', 'throughput']);
    if (chance(0.15)) question.decoding = 'sampling';
    if (chance(0.15)) question.platforms[0].memory_utilisation = 0.5 + 0.5 * random();
    yield question;
  }
}
