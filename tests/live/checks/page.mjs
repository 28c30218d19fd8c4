// What the page is: one file that opens with an answer, starts the library, keeps its limits, and lets nothing out.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sentence, settled } from '../live_page.mjs';

const example = (name) => join(dirname(fileURLToPath(import.meta.url)), '../../../examples', `${name}.json`);
const LARGEST = 1.6e6; // bytes of the page
const FIRST = 500; // ms from the start of the page's script to the first answer on an idle core
const LATER = 100;
const BUSY = 20; // tests share the machine with others, browsers and sanitized programs among them

export const checks = ({ live, program }) => ({
  async 'the page opens with an answer, and then gives its own'() {
    const { page, complaints, close } = await live.open({ answered: false });
    const written = await sentence(page);
    assert.match(written, /^Run llama-3\.1-8b on NVIDIA H100 SXM 80 GB with EAGLE-3 llama-3\.1-8b drafting \d+ tokens: 1\.\d\dx/);
    await settled(page);
    assert.equal(await sentence(page), written);
    assert.match(await page.locator('#status').innerText(), /^Answered in [\d,]+.ms/);
    assert.deepEqual(complaints, []);
    await close();
  },

  async 'it is small, starts fast and answers fast'() {
    if (!live.real) return 'skipped';
    const size = statSync(live.file).size;
    assert.ok(size <= LARGEST, `the page has ${size} bytes`);
    const { page, close } = await live.open({ answered: false, alone: true });
    const began = await page.evaluate(() => performance.timing.domInteractive - performance.timing.navigationStart);
    await page.waitForFunction(() => document.documentElement.dataset.answered, null, { polling: 5 });
    const first = (await page.evaluate(() => performance.now())) - began;
    const times = [];
    for (let load = 1; load <= 21; load += 1) {
      await settled(page, () => page.getByLabel('How much', { exact: true }).fill(String(load)));
      times.push(await page.evaluate(() => Number(document.documentElement.dataset.took)));
    }
    await close();
    const median = times.sort((a, b) => a - b)[10];
    assert.ok(first <= FIRST * BUSY && median <= LATER * BUSY, `first answer after ${first} ms, later ones ${median} ms`);
    return `${(size / 1e6).toFixed(2)} MB, first answer after ${first.toFixed(0)} ms, later ones ${median.toFixed(0)} ms in the median (goals: 1.6 MB, ${FIRST} and ${LATER} ms)`;
  },

  async 'a page opens with what flags ask'() {
    if (!live.real) return 'skipped';
    const file = join(live.folder, 'asked.html');
    const load = ['--concurrency', '16', '--prompt', '500', '--output-tokens', '200'];
    const asked = [
      ['--target', 'qwen3-8b', '--device', 'l40s', '--stack', 'vllm', ...load],
      ['--target', 'qwen3-8b', '--device', 'l40s', '--engine', 'sglang', ...load, '--drafter', 'none'],
      ['--target', 'llama-3.1-8b', '--device', 'h100-sxm', '--batch', '1:0.5,8:0.5', '--context', '4000', '--drafter', 'ngram', '--acceptance', '0.4', '--draft-tokens', '3'],
      ['--target', 'mamba2-2.7b', '--device', 'rtx-4090', '--drafter', 'mamba2-130m', '--acceptance', '0.7', '--shape', 'stree-mamba'],
      ['--target', 'qwen3-next-80b-a3b', '--device', 'h200', '--tensor-parallel', '2', '--precision', 'fp8', ...load],
      ['--target', 'llama-3.3-70b', '--device', 'h100-sxm', '--gpus', '4', '--arrival-rate', '2', '--prompt', '100:0.5,900:0.5', '--output-tokens', '300'],
      [example('deepseek-r1-8xh200')], // whose answers are long
      [example('trees-mamba2-2.7b-rtx4090')],
    ];
    for (const flags of asked) {
      execFileSync(program, ['explore', ...flags, '--output', file]);
      const { size } = statSync(file);
      assert.ok(size <= LARGEST, `${flags.join(' ')}: ${size} bytes`);
      const { page, complaints, close } = await live.open({ file });
      assert.ok((await sentence(page)).length > 20);
      assert.deepEqual(complaints, [], flags.join(' '));
      await close();
    }
  },

  async 'a report with the page inside starts it in a frame, where it answers'() {
    if (!live.real) return 'skipped';
    const file = join(live.folder, 'report.html');
    const question = ['--target', 'qwen3-8b', '--device', 'l40s', '--stack', 'vllm', '--concurrency', '16', '--prompt', '500'];
    execFileSync(program, ['report', ...question, '--output-tokens', '200', '--live', '--output', file]);
    const { page, complaints, close } = await live.open({ answered: false, file });
    assert.equal(await page.locator('iframe').count(), 0);
    await page.getByRole('button', { name: 'Open the form' }).click();
    const frame = page.frameLocator('iframe');
    await frame.locator('html[data-answered]').waitFor({ state: 'attached', timeout: 30_000 });
    const written = await frame.locator('#answer .answer').innerText();
    assert.match(written, /^(Run|Do not speculate).* on NVIDIA L40S/);
    await frame.getByLabel('How much', { exact: true }).fill('1');
    await frame.locator('#answer .answer', { hasNotText: written }).waitFor({ timeout: 30_000 });
    assert.deepEqual(complaints, []);
    await close();
  },

  async 'no request leaves the page'() {
    const { page, close } = await live.open();
    const refused = await page.evaluate(async () => {
      const violations = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => violations.push(effectiveDirective));
      const outcomes = [];
      outcomes.push(
        await fetch('https://example.com/').then(
          () => 'sent',
          () => 'refused',
        ),
      );
      outcomes.push(
        await new Promise((done) => {
          const image = new Image();
          image.onload = () => done('sent');
          image.onerror = () => done('refused');
          image.src = 'https://example.com/a.png';
        }),
      );
      const script = document.createElement('script');
      script.textContent = 'window.injected = true';
      document.body.append(script);
      outcomes.push(window.injected ? 'ran' : 'refused');
      await new Promise((done) => setTimeout(done, 200));
      return { outcomes, violations };
    });
    assert.deepEqual(refused.outcomes, ['refused', 'refused', 'refused']);
    assert.deepEqual([...new Set(refused.violations)].sort(), ['connect-src', 'img-src', 'script-src-elem']);
    await close();
  },

  async 'the worker lets nothing out either'() {
    const { page, close } = await live.open();
    const outcome = await page.evaluate(
      () =>
        new Promise((done) => {
          const text = "fetch('https://example.com/').then(() => postMessage('sent'), () => postMessage('refused'))";
          const worker = new Worker(URL.createObjectURL(new Blob([text])));
          worker.onmessage = ({ data }) => done(data);
        }),
    );
    assert.equal(outcome, 'refused');
    await close();
  },

  async 'without WebAssembly it says so and shows what it was written with'() {
    if (!live.real) return 'skipped';
    const { page, complaints, close } = await live.open({ answered: false, before: () => delete globalThis.WebAssembly });
    assert.match(await sentence(page), /^Run llama-3\.1-8b/);
    assert.match(await page.locator('#status').innerText(), /^This browser has no WebAssembly, so it cannot compute here/);
    assert.equal(await page.locator('form').count(), 0);
    assert.deepEqual(complaints, []);
    await close();
    return undefined;
  },
});
