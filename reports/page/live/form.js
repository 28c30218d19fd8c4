// The form: what is served, on what, for whom, and who drafts. It edits the question in place and says that it has changed.
import { button, element } from '../src/lib/dom.js';
import { drafterFields } from './drafters.js';
import { choice, folded, group, named, slider, text } from './fields.js';
import * as q from './question.js';

const FORMATS = [
  ['', 'as published'],
  'bf16',
  'fp8',
  'fp8-block',
  'int8',
  'nvfp4',
  'mxfp4',
  'int4',
  'q8_0',
  'q6_k',
  'q4_k_m',
];
const CACHES = [['', 'as the checkpoint'], 'bf16', 'fp16', 'fp8', 'int8', 'fp4'];
const DEGREES = [['', '1'], '2', '4', '8', '16'];
const OBJECTIVES = [
  ['', 'by default'],
  ['throughput', 'tokens/s per device'],
  ['latency', 'time per token'],
  ['cost', 'money per token'],
  ['energy', 'energy per token'],
];

/** Of a list's word. */
const numberOf = (word) => (word === '' ? undefined : Number(word));

/** `context`: {question, catalogue, priced: drafters of the last answer, known: drafters of this target, files, changed, rebuild, ask}. */
export function form(context) {
  const { question, catalogue, changed } = context;
  const bound = (accessor, make = (value) => value) => ({
    value: accessor.get(question),
    set(value) {
      accessor.set(question, make(value));
      changed();
    },
  });
  const rebuilding = (accessor, make = (value) => value) => ({
    value: accessor.get(question),
    set(value) {
      accessor.set(question, make(value));
      changed();
      context.rebuild();
    },
  });
  const degree = (label, name) => choice({ label, options: DEGREES, ...bound(q.platformKey(name), numberOf) });
  const limit = (label, name, placeholder = 'none') =>
    text({ label, mode: 'decimal', placeholder, read: q.readNumber, ...bound(q.limit(name)) });
  // Where the context is stated, a workload may leave the lengths out.
  const lengths = question.traffic?.context === undefined ? q.required(q.readList('tokens')) : q.readList('tokens');
  const length = (label, name, least, most) =>
    slider({ label, least, most, log: true, read: lengths, ...bound(q.lengths(name)) });
  const files = Object.keys(context.files);
  const kind = q.loadKind.get(question);
  const cut = ['pipeline_parallel', 'expert_parallel', 'attention_data_parallel'];

  return element(
    'form',
    { class: 'question', 'aria-label': 'Question', onsubmit: (event) => event.preventDefault(), onunread: changed },
    group(
      'Model',
      named({ label: 'Target', options: [...files, ...catalogue.models], ...rebuilding(q.target) }),
      choice({ label: 'Checkpoint', options: FORMATS, ...bound(q.checkpoint) }),
      choice({ label: 'Key-value cache', options: CACHES, ...bound(q.cacheFormat) }),
    ),
    group(
      'Hardware',
      named({ label: 'Device', options: [...files, ...catalogue.devices], ...bound(q.platformKey('device')) }),
      degree('Tensor parallel', 'tensor_parallel'),
      choice({
        label: 'Engine',
        options: [['', 'none'], ...catalogue.engines.map(([word, title]) => [word, title])],
        ...rebuilding(q.engine),
      }),
      folded(
        'More of the cut, memory',
        cut.some((name) => q.platformKey(name).get(question)),
        degree('Pipeline stages', 'pipeline_parallel'),
        degree('Expert parallel', 'expert_parallel'),
        degree('Attention groups', 'attention_data_parallel'),
        slider({
          label: 'Memory share',
          least: 0.3,
          most: 1,
          step: 0.01,
          placeholder: "the engine's",
          read: q.readNumber,
          ...bound(q.platformKey('memory_utilisation')),
        }),
        text({
          label: 'Price of a device ($/h)',
          mode: 'decimal',
          placeholder: 'as described',
          read: q.readNumber,
          ...bound(q.platformKey('price')),
        }),
      ),
    ),
    group(
      'Traffic',
      choice({ label: 'Load', options: q.LOADS, ...rebuilding(q.loadKind) }),
      slider({
        label: 'How much',
        least: kind === 'arrival_rate' ? 0.1 : 1,
        most: kind === 'arrival_rate' ? 100 : 512,
        step: kind === 'arrival_rate' ? 0.1 : 1,
        log: true,
        hint: 'or with shares: 8:0.3, 32:0.7',
        read: q.required(q.readList()),
        ...bound(q.load),
      }),
      kind === 'batch'
        ? slider({
            label: 'Context (tokens)',
            least: 64,
            most: 131072,
            log: true,
            read: q.required(q.readList()),
            ...bound(q.context),
          })
        : [length('Prompt (tokens)', 'prompt_tokens', 16, 131072), length('Answer (tokens)', 'output_tokens', 8, 16384)],
    ),
    drafterFields(context),
    group(
      'Limits',
      choice({ label: 'Best in', options: OBJECTIVES, ...bound(q.key('objective')) }),
      limit('TPOT at most (ms)', 'tpot_ms'),
      limit('TTFT at most (ms)', 'ttft_ms'),
      folded(
        'More limits, sampling',
        false,
        limit('Gain at least', 'minimum_gain', '1'),
        limit('TTFT growth at most', 'ttft_growth', '2'),
        limit('Memory at most (GB)', 'memory_gb', "the device's"),
        choice({ label: 'Decoding', options: [['', 'greedy'], 'sampling'], ...bound(q.key('decoding')) }),
      ),
    ),
    element('div', { class: 'form-foot' }, button('Start again', context.reset, { class: 'quiet' })),
  );
}
