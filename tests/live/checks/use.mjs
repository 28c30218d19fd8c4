// What a reader does with the page: change the question by mouse and by keyboard, keep it, compare, copy, drop files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drop, field, questionOf, sentence, settled } from '../live_page.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** The program's sentence as a page says it: names instead of the words of inputs. */
const byName = (sentence) =>
  sentence.replace('h100-sxm', 'NVIDIA H100 SXM 80 GB').replace('eagle3-llama-3.1-8b', 'EAGLE-3 llama-3.1-8b').replace('eagle3 ', 'EAGLE-3 ');

export const checks = ({ live, program }) => {
  const withPage = (work, options) => async () => {
    const { page, complaints, close } = await live.open(options);
    const said = await work(page);
    assert.deepEqual(complaints, []);
    await close();
    return said;
  };
  const positions = async (page) => (await questionOf(page)).drafters[0].acceptance.per_position;
  const focused = (page) =>
    page.evaluate(() => {
      const node = document.activeElement;
      return node.labels?.[0]?.textContent ?? node.getAttribute('aria-label') ?? node.textContent;
    });
  const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

  return {
    'a change is answered as the program answers it': withPage(async (page) => {
      await settled(page, () => field(page, 'How much').fill('4:0.3, 64:0.7'));
      await settled(page, () => field(page, 'Checkpoint').selectOption('fp8'));
      const question = await questionOf(page);
      assert.deepEqual(question.traffic, {
        concurrency: [
          { value: 4, share: 0.3 },
          { value: 64, share: 0.7 },
        ],
      });
      const answer = JSON.parse(await live.native.ask('explore', JSON.stringify(question)));
      assert.equal(await sentence(page), answer.page.summary.sentence);
    }),

    'a slider moves the answer': withPage(async (page) => {
      const before = await sentence(page);
      await settled(page, () => page.getByLabel('How much, slider').fill('200'));
      assert.notEqual(await sentence(page), before);
      assert.equal((await questionOf(page)).traffic.concurrency[0], Number(await field(page, 'How much').inputValue()));
    }),

    'an acceptance curve is dragged, and never rises': withPage(async (page) => {
      const grip = page.locator('.curve').first().locator('.curve-point').nth(2);
      await grip.scrollIntoViewIfNeeded();
      const box = await grip.boundingBox();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await settled(page, async () => {
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x, y - 60, { steps: 6 });
        await page.mouse.up();
      });
      const dragged = await positions(page);
      assert.ok(
        dragged.every((value, i) => i === 0 || value <= dragged[i - 1]),
        dragged.join(),
      );
      const drafter = (await questionOf(page)).drafters[0];
      assert.equal(drafter.published, 'eagle3-llama-3.1-8b');
      assert.match(await sentence(page), /^Run /);
    }),

    'the curve is moved by keys alone': withPage(async (page) => {
      const first = page.locator('.curve').first().locator('.curve-point').first();
      await first.focus();
      await settled(page, () => page.keyboard.press('Home'));
      assert.ok((await positions(page)).every((value) => value === 0));
      await settled(page, () => page.keyboard.press('PageUp'));
      assert.equal((await positions(page))[0], 0.1);
      assert.equal(await first.getAttribute('aria-valuenow'), '0.100');
    }),

    'five tasks by keyboard alone': withPage(async (page) => {
      const reach = async (name) => {
        for (let i = 0; i < 120; i += 1) {
          await page.keyboard.press('Tab');
          const focused = await page.evaluate(() => {
            const node = document.activeElement;
            return node.getAttribute('aria-label') ?? node.labels?.[0]?.textContent ?? node.textContent;
          });
          if (focused === name) return;
        }
        throw new Error(`Tab never reaches ${name}`);
      };
      await reach('Device'); // another device
      await settled(page, () => page.keyboard.type('h200'));
      await reach('Tensor parallel'); // another cut
      await settled(page, () => page.keyboard.press('ArrowDown'));
      await reach('How much, slider'); // another load
      await settled(page, () => page.keyboard.press('ArrowRight'));
      await reach('Draft 1'); // another acceptance
      await settled(page, () => page.keyboard.press('ArrowUp'));
      await reach('TPOT at most (ms)'); // a limit
      await settled(page, () => page.keyboard.type('30'));
      const question = await questionOf(page);
      assert.deepEqual(question.platforms, [{ device: 'h200', engine: 'vllm', tensor_parallel: 2 }]);
      assert.ok(question.traffic.concurrency[0] > 32);
      assert.equal(question.limits.tpot_ms, 30);
      assert.equal(question.drafters[0].published, 'eagle3-llama-3.1-8b');
    }),

    'the address holds the whole state': withPage(async (page) => {
      await settled(page, () => field(page, 'Target').fill('qwen3-8b'));
      await page.getByRole('button', { name: 'Pin', exact: true }).click();
      await settled(page, () => field(page, 'Device').fill('l40s'));
      const [question, said] = [await questionOf(page), await sentence(page)];
      const hash = await page.evaluate(() => location.hash);
      const again = await live.open({ hash });
      await again.page.waitForFunction((text) => document.querySelector('#answer .answer').innerText === text, said, {
        timeout: 10_000,
      });
      assert.deepEqual(await questionOf(again.page), question);
      assert.equal(await again.page.locator('#compare .comparison thead th').count(), 3);
      await again.close();
    }),

    'a link that was cut says so and opens the page as it was written': async () => {
      const whole = await live.open();
      await questionOf(whole.page);
      const hash = await whole.page.evaluate(() => location.hash);
      await whole.close();
      for (const spoilt of ['#s=AAAA', '#s=garbage', hash.slice(0, -20)]) {
        const { page, close } = await live.open({ hash: spoilt });
        assert.match(await sentence(page), /^Run llama-3\.1-8b/);
        assert.match(await page.locator('#notice').innerText(), /^The link is cut or damaged/);
        await close();
      }
    },

    'what cannot be read is said beside its field, and nothing is asked without it': withPage(async (page) => {
      const before = await questionOf(page);
      for (const [label, text, problem] of [
        ['TTFT at most (ms)', '10,5', /“10,5” is no number; write 10\.5\./],
        ['TTFT at most (ms)', '2O', /“2O” is no number/],
        ['TPOT at most (ms)', 'abc', /“abc” is no number/],
        ['Draft tokens, at most', '0', /“0” is not 1, 2, 3/],
        ['Draft tokens, at most', 'abc', /“abc” is no number/],
        ['Prompt (tokens)', 'foo', /“foo” is no number, nor numbers with shares/],
        ['Answer (tokens)', '', /A value is needed here/],
        ['How much', '8:', /“8:” is no number/],
      ]) {
        const box = field(page, label);
        const known = await box.inputValue();
        await settled(page, () => box.fill(text));
        assert.equal(await box.getAttribute('aria-invalid'), 'true', label);
        const described = await box.evaluate((node) =>
          node
            .getAttribute('aria-describedby')
            .split(' ')
            .map((id) => document.getElementById(id).textContent)
            .join(' '),
        );
        assert.match(described, problem);
        assert.match(await page.getByRole('alert').innerText(), problem);
        assert.match(await page.locator('#status').innerText(), /^No answer/);
        assert.deepEqual(await questionOf(page), before);
        await settled(page, () => box.fill(known));
        assert.equal(await box.getAttribute('aria-invalid'), null);
        assert.match(await page.locator('#status').innerText(), /^Answered/);
      }
      await settled(page, () => field(page, 'TPOT at most (ms)').fill('5x'));
      await settled(page, () => field(page, 'Engine').selectOption('sglang')); // builds the form again
      assert.equal(await field(page, 'TPOT at most (ms)').inputValue(), '5x');
      assert.match(await page.locator('#status').innerText(), /^No answer/);
    }),

    'a load of another kind keeps the lengths': withPage(async (page) => {
      await settled(page, () => field(page, 'Answer (tokens)').fill('800'));
      await settled(page, () => field(page, 'Load').selectOption('batch'));
      assert.deepEqual((await questionOf(page)).traffic, { batch: [32], context: [1400] }); // 1000 + 800 / 2
      assert.match(await page.locator('#status').innerText(), /^Answered/);
      await settled(page, () => field(page, 'Load').selectOption('arrival_rate'));
      assert.equal((await questionOf(page)).output_tokens, 800);
      assert.equal((await questionOf(page)).traffic.context, undefined);
    }),

    'what the page is about is no title of another question': withPage(async (page) => {
      assert.match(await page.title(), /Llama-3\.1-8B/);
      await settled(page, () => field(page, 'Target').fill('qwen3-8b'));
      assert.doesNotMatch(await page.title(), /Llama/);
      assert.equal((await questionOf(page)).title, undefined);
    }),

    'the focus stays on what remains': withPage(async (page) => {
      await settled(page, () => field(page, 'Engine').selectOption(''));
      await settled(page, () => field(page, 'Shape').selectOption('tree'));
      const press = (key) => settled(page, () => page.keyboard.press(key));
      const nodes = async () => (await questionOf(page)).shapes[0].parents.length;
      await page.getByRole('button', { name: /^Node 4 at/ }).focus();
      await press('+');
      assert.match(await focused(page), /^Node 4 at/);
      assert.equal(await nodes(), 6);
      await press('Enter');
      assert.match(await focused(page), /^Node 1 at/); // its parent
      assert.equal(await nodes(), 4);
      await press('Delete');
      assert.match(await focused(page), /^Root/);
      for (const [name, after] of [
        ['Another drafter', /^Drafter 3/],
        ['As measured', /^As measured/],
        [/^Take away/, /^Drafter 1/],
        ['Start again', /^Start again/],
      ]) {
        await page.getByRole('button', { name }).first().focus();
        await press('Enter');
        assert.match(await focused(page), after);
      }
    }),

    'trees are those of the engine, in the words of its flags': withPage(async (page) => {
      const trees = () => field(page, 'Shape').locator('option', { hasText: /^trees$/ });
      assert.equal(await trees().isDisabled(), true);
      assert.match(await page.locator('.question').innerText(), /vLLM [\d.]+ drafts chains only\. SGLang [\d.]+ and TensorRT-LLM [\d.]+ draft trees/);
      for (const [engine, shape, title] of [
        ['sglang', 'sglang:3,2,6', /in the tree sglang 3,2,6/],
        ['tensorrt-llm', 'tensorrt_llm:3,2,6', /in the tree tensorrt_llm 3,2,6/],
      ]) {
        await settled(page, () => field(page, 'Engine').selectOption(engine));
        if ((await field(page, 'Shape').inputValue()) === 'chain')
          await settled(page, () => field(page, 'Shape').selectOption('tree'));
        else await settled(page, () => page.getByRole('button', { name: /states them$/ }).click());
        assert.deepEqual((await questionOf(page)).shapes, [shape]);
        assert.match(await sentence(page), title);
      }
      await settled(page, () => field(page, 'Top-k').fill('3'));
      assert.deepEqual((await questionOf(page)).shapes, ['tensorrt_llm:3,3,6']);
      await settled(page, () => field(page, 'Engine').selectOption('vllm'));
      assert.equal(await field(page, 'Shape').getAttribute('aria-invalid'), 'true');
      assert.match(await page.locator('.question').innerText(), /vLLM [\d.]+ drafts chains only: choose chains, or another engine/);
      await settled(page, () => field(page, 'Shape').selectOption('chain'));
      assert.match(await page.locator('#status').innerText(), /^Answered/);
    }),

    'trees of a dropped workload stay as they are': withPage(async (page) => {
      const shapes = ['sglang:3,2,6', 'sglang:5,4,32', { sglang: { steps: 2, top_k: 4, draft_tokens: 8 } }];
      const question = { ...(await questionOf(page)), shapes };
      delete question.draft_tokens;
      question.platforms = [{ device: 'h100-sxm', engine: 'sglang' }];
      await settled(page, () => drop(page, 'trees.json', JSON.stringify(question)));
      assert.equal(await field(page, 'Shape').inputValue(), 'tree');
      assert.deepEqual(
        await page.locator('.tree-row input').evaluateAll((boxes) => boxes.map(({ value }) => Number(value))),
        [3, 2, 6, 5, 4, 32, 2, 4, 8],
      );
      await settled(page, () => field(page, 'Shape').selectOption('chain'));
      await settled(page, () => field(page, 'Shape').selectOption('both'));
      assert.deepEqual((await questionOf(page)).shapes, shapes);
      await settled(page, () => field(page, 'Steps').nth(1).fill('4'));
      assert.deepEqual((await questionOf(page)).shapes[1], 'sglang:4,4,32');
      await settled(page, () => page.getByRole('button', { name: 'Another tree' }).click());
      assert.deepEqual((await questionOf(page)).shapes[3], 'sglang:3,4,10'); // a step deeper than the last
      assert.match(await page.locator('#status').innerText(), /^Answered/);
    }),

    'the command brings along the files that were dropped': withPage(async (page) => {
      const description = readFileSync(join(source, 'models/qwen3-8b.json'), 'utf8');
      await settled(page, () => drop(page, 'mine.json', description));
      const run = readFileSync(join(source, 'examples/runs/vllm-16937.json'), 'utf8');
      await settled(page, () => drop(page, 'my run.json', run));
      assert.match(await page.locator('#notice').innerText(), /^Acceptance comes from my-run\.json now/);
      assert.equal(await page.getByRole('button', { name: 'Save my-run.json' }).isVisible(), true);
      for (const engine of ['vllm', 'sglang']) {
        await settled(page, () => field(page, 'Engine').selectOption(engine));
        await page.getByRole('button', { name: 'Copy the command' }).click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        const command = (await clipboard(page)).replace(/^treeline/m, `'${program}'`);
        const empty = mkdtempSync(join(live.folder, 'empty-'));
        const said = execFileSync('bash', ['-c', `${command} --format json`], { cwd: empty, encoding: 'utf8' });
        assert.equal(await sentence(page), byName(JSON.parse(said).sentence));
        await page.getByRole('button', { name: 'Copy the command' }).waitFor();
      }
    }),

    'the copied command gives the same answer': withPage(async (page) => {
      await settled(page, () => field(page, 'Prompt (tokens)').fill('400:0.5, 2000:0.5'));
      await settled(page, () => field(page, 'Key-value cache').selectOption('fp8'));
      await page.locator('.curve').first().locator('.curve-point').first().focus();
      await settled(page, () => page.keyboard.press('ArrowUp'));
      await page.getByRole('button', { name: 'Copy the command' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const command = await clipboard(page);
      assert.match(command, /^treeline recommend --/);
      const said = execFileSync('bash', ['-c', `${command.replace(/^treeline/, `'${program}'`)} --format json`], {
        encoding: 'utf8',
      });
      assert.equal(await sentence(page), byName(JSON.parse(said).sentence));
    }),

    'the copied answer is what the program prints': withPage(async (page) => {
      await page.getByRole('button', { name: 'Copy the answer (JSON)' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const file = join(live.folder, 'question.json');
      writeFileSync(
        file,
        JSON.stringify(await page.evaluate(() => JSON.parse(document.getElementById('start').textContent).question)),
      );
      assert.equal(
        await clipboard(page),
        execFileSync(program, ['recommend', file, '--format', 'json'], { encoding: 'utf8' }),
      );
    }),

    'pinned configurations stand side by side, part by part': withPage(async (page) => {
      await page.getByRole('button', { name: 'Pin', exact: true }).click();
      await settled(page, () => field(page, 'Device').fill('h200'));
      const text = await page.locator('#compare').innerText();
      assert.match(text, /device: h100-sxm → h200/);
      assert.match(text, /A round takes −[\d.]+\u00a0ms: verify −[\d.]+\u00a0ms/);
      for (let i = 0; i < 5; i += 1) {
        await settled(page, () => field(page, 'How much').fill(String(10 + i)));
        await page.getByRole('button', { name: 'Pin', exact: true }).click();
      }
      assert.match(await page.locator('#notice').innerText(), /^4 configurations are pinned/); // the fifth is not
      assert.equal(await page.locator('#compare .comparison thead th').count(), 1 + 4 + 1);
      await page.getByRole('button', { name: /^Unpin 1:/ }).focus();
      await settled(page, () => page.keyboard.press('Enter'));
      assert.equal(await page.locator('#compare .comparison thead th').count(), 1 + 3 + 1);
      assert.match(await focused(page), /^Unpin 1:/);
    }),

    'a question that has no answer says why, and keeps what was shown': withPage(async (page) => {
      const before = await sentence(page);
      await settled(page, () =>
        field(page, 'Device').evaluate((box) => {
          box.value = 'h900';
          box.dispatchEvent(new Event('change'));
        }),
      );
      assert.match(await page.getByRole('alert').innerText(), /h900/);
      assert.equal(await sentence(page), before);
      assert.equal(await page.getByRole('button', { name: 'Pin', exact: true }).isEnabled(), false);
      await settled(page, () => field(page, 'Device').fill('h200'));
      assert.equal(await page.locator('#problems').isVisible(), false);
    }),

    'a node of a tree is clicked away': withPage(async (page) => {
      await settled(page, () => field(page, 'Engine').selectOption(''));
      await settled(page, () => field(page, 'Shape').selectOption('tree'));
      const nodes = (await questionOf(page)).shapes[0].parents.length;
      await settled(page, () => page.getByRole('button', { name: /^Node 1 at level 1/ }).click());
      const left = (await questionOf(page)).shapes[0].parents;
      assert.deepEqual([nodes, left], [5, [0]]);
      await settled(page, () => field(page, 'By rank').first().fill('0.6, 0.2'));
      assert.deepEqual((await questionOf(page)).drafters[0].acceptance.per_rank, [0.6, 0.2]);
    }),

    "a Hugging Face config becomes the target, and a benchmark's result the acceptance": withPage(async (page) => {
      const config = {
        architectures: ['LlamaForCausalLM'],
        model_type: 'llama',
        hidden_size: 2048,
        intermediate_size: 8192,
        num_hidden_layers: 16,
        num_attention_heads: 32,
        num_key_value_heads: 8,
        head_dim: 64,
        vocab_size: 128256,
        tie_word_embeddings: true,
        torch_dtype: 'bfloat16',
        max_position_embeddings: 131072,
        hidden_act: 'silu',
      };
      await settled(page, () => drop(page, 'config.json', JSON.stringify(config)));
      assert.match(await sentence(page), /^Run own-model on NVIDIA H100 SXM 80 GB/);
      assert.equal((await questionOf(page)).target, 'own-model.json');
      const run = readFileSync(join(source, 'examples/runs/vllm-16937.json'), 'utf8');
      await settled(page, () => drop(page, 'my-run.json', run));
      assert.equal((await questionOf(page)).drafters[0].acceptance.file, 'my-run.json');
      await drop(page, 'letter.txt', 'Dear reader,\n');
      await page
        .getByRole('alert')
        .getByText(/letter/)
        .waitFor();
    }),

    'a file without acceptance replaces no curve, and a design point becomes the question': withPage(async (page) => {
      const before = await questionOf(page);
      await drop(page, 'times.md', 'K=3 gave 231 tok/s, without 140 tok/s.\n');
      await page.getByRole('alert').getByText('times.md: is of a run that measured no acceptance').waitFor();
      assert.deepEqual(await questionOf(page), before);
      const point = readFileSync(join(source, 'examples/estimate-mamba2-2.7b.json'), 'utf8');
      await settled(page, () => drop(page, 'point.json', point));
      assert.match(await sentence(page), /mamba2-2\.7b on NVIDIA GeForce RTX 4090/);
    }),

    'a run that is dropped states draft lengths where the question has none': async () => {
      // As `treeline explore --target llama-3.1-8b …` without drafters and lengths asks.
      const question = {
        target: 'llama-3.1-8b',
        platforms: [{ device: 'h100-sxm', engine: 'vllm' }],
        drafters: 'known',
        prompt_tokens: 1000,
        output_tokens: 300,
        traffic: { concurrency: [8] },
      };
      const { page, complaints, close } = await live.open();
      await settled(page, () => drop(page, 'question.json', JSON.stringify(question)));
      assert.equal((await questionOf(page)).draft_tokens, undefined);
      const run = readFileSync(join(source, 'examples/runs/vllm-16937.json'), 'utf8');
      await settled(page, () => drop(page, 'my-run.json', run));
      assert.deepEqual((await questionOf(page)).draft_tokens, { from: 1, to: 8 });
      assert.equal(await page.locator('#problems').innerText(), '');
      assert.deepEqual(complaints, []);
      await close();
    },

    'a log of 2 MB is read': withPage(async (page) => {
      const line =
        'INFO 11-20 10:00:01 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.61, Accepted throughput: 161.00 tokens/s, Drafted throughput: 300.00 tokens/s, Accepted: 1610 tokens, Drafted: 3000 tokens, Per-position acceptance rate: 0.801, 0.510, 0.299, Avg Draft acceptance rate: 53.7%\n';
      await settled(page, () => drop(page, 'server.log', line.repeat(7000)));
      const named = (await questionOf(page)).drafters[0].acceptance.file;
      assert.equal(named, 'server.log.json');
      await page.getByText('Acceptance comes from server.log.json now.').waitFor();
    }),

    'after a question that the library breaks off at it answers the next one, and knows its files': async () => {
      if (!live.real) return 'skipped';
      const { page, close } = await live.open({
        before: () => {
          const { postMessage } = Worker.prototype;
          Worker.prototype.postMessage = function (data) {
            const fails = globalThis.fails && data.kind === 'explore';
            if (fails) globalThis.fails = false;
            postMessage.call(this, fails ? { ...data, kind: 'x'.repeat(2e6) } : data); // more than its stack holds
          };
        },
      });
      const run = readFileSync(join(source, 'examples/runs/vllm-16937.json'), 'utf8');
      await settled(page, () => drop(page, 'my-run.json', run));
      await settled(page, async () => {
        await page.evaluate(() => {
          globalThis.fails = true;
        });
        await field(page, 'How much').fill('16');
      });
      await page.getByRole('alert').getByText('broke off').waitFor();
      await settled(page, () => field(page, 'How much').fill('32'));
      assert.equal(await page.locator('#problems').innerText(), '');
      await live.native.ask('file', JSON.stringify({ name: 'my-run.json', text: run }));
      const answer = JSON.parse(await live.native.ask('explore', JSON.stringify(await questionOf(page))));
      assert.equal(await sentence(page), answer.page.summary.sentence);
      await close();
    },

    'an earlier answer of Treeline becomes the question': withPage(async (page) => {
      const answer = execFileSync(
        program,
        ['recommend', join(source, 'examples/llama-3.1-8b-h100.json'), '--format', 'json'],
        { encoding: 'utf8' },
      );
      await settled(page, () => drop(page, 'answer.json', answer));
      assert.equal(await sentence(page), byName(JSON.parse(answer).sentence));
    }),
  };
};
