// This machine as Treeline describes devices (hardware/README.md): what one thread copies, and what llama.cpp multiplies.
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { timeOfPrompt } from './client.mjs';
import { layerWeights } from './models.mjs';

const REPEATS = 5;

/** Bytes read and written in a second by copying what no cache of one core holds. */
function copyingBandwidth() {
  const [from, to] = [new Uint8Array(1 << 28).fill(1), new Uint8Array(1 << 28).fill(2)];
  let least = Infinity;
  for (let i = 0; i < REPEATS; i += 1) {
    const begin = performance.now();
    to.set(from);
    least = Math.min(least, performance.now() - begin);
  }
  return (2 * from.length) / (1e-3 * least);
}

/** Floating-point operations in a second of a prompt of 256 tokens, in which weights are read once and attention is small. */
async function multiplyingSpeed(target, model, prompt) {
  let least = Infinity;
  for (let i = 0; i < REPEATS; i += 1) least = Math.min(least, await timeOfPrompt(target, prompt));
  return (2 * layerWeights(model) * (prompt.length - 1)) / (1e-3 * least);
}

/** Writes the description; `target` is an opened `model`. */
export async function describeMachine(path, target, model, prompt) {
  const figure = (value, unit, source) => ({ value: Number(value.toPrecision(4)), unit, source, kind: 'measured' });
  const description = {
    title: `${cpus()[0].model.trim()}, one thread`,
    kind: 'cpu',
    memory: figure(totalmem() / 1e9, 'GB', 'what the system reports'),
    memory_bandwidth: figure(copyingBandwidth() / 1e9, 'GB/s', 'copying 256 MiB, read and written'),
    peak: { fp32: figure((await multiplyingSpeed(target, model, prompt)) / 1e12, 'TFLOP/s', 'llama.cpp reading a prompt') },
  };
  writeFileSync(path, JSON.stringify(description, null, 1));
  return description;
}
