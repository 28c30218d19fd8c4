// This machine as Treeline describes devices (hardware/README.md): what one thread copies, and what llama.cpp multiplies.
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { timeOfPrompt } from './client.mjs';
import { layerWeights } from './models.mjs';

const REPEATS = 3;

/** The fastest seen so far: what the machine does when nothing else runs. */
export class Machine {
  bandwidth = 0; // bytes read and written in a second by copying what no cache of one core holds
  speed = 0; // floating-point operations in a second of a prompt, in which weights are read once and attention is small

  /** Measures again; `target` is an opened `model`. */
  async measure(target, model, prompt) {
    const [from, to] = [new Uint8Array(1 << 28).fill(1), new Uint8Array(1 << 28).fill(2)];
    for (let i = 0; i < REPEATS; i += 1) {
      const begin = performance.now();
      to.set(from);
      this.bandwidth = Math.max(this.bandwidth, (2 * from.length) / (1e-3 * (performance.now() - begin)));
      const milliseconds = await timeOfPrompt(target, prompt);
      this.speed = Math.max(this.speed, (2 * layerWeights(model) * (prompt.length - 1)) / (1e-3 * milliseconds));
    }
  }

  describe(path) {
    const figure = (value, unit, source) => ({ value: Number(value.toPrecision(4)), unit, source, kind: 'measured' });
    const description = {
      title: `${cpus()[0].model.trim()}, one thread`,
      kind: 'cpu',
      memory: figure(totalmem() / 1e9, 'GB', 'what the system reports'),
      memory_bandwidth: figure(this.bandwidth / 1e9, 'GB/s', 'copying 256 MiB, read and written'),
      peak: { fp32: figure(this.speed / 1e12, 'TFLOP/s', 'llama.cpp reading a prompt') },
    };
    writeFileSync(path, JSON.stringify(description, null, 1));
    return `${description.title}: ${description.memory_bandwidth.value} GB/s, ${description.peak.fp32.value} TFLOP/s`;
  }
}
