// A question as a command to paste: flags where each part has one, else the file in a here-document.

const plain = /^[\w@%+=:,./-]+$/;
export const quoted = (text) => (plain.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const listed = (list, name = 'value') =>
  [list]
    .flat()
    .map((entry) => (typeof entry === 'object' ? `${entry[name]}:${entry.share ?? 1}` : entry))
    .join(',');

const isRange = (axis) => typeof axis === 'object' && !Array.isArray(axis) && Object.keys(axis).join() === 'from,to';
const axisText = (axis) => (isRange(axis) ? `${axis.from}-${axis.to}` : listed(axis));
const lengthsText = (lengths) => (Array.isArray(lengths) ? listed(lengths, 'tokens') : textOf(lengths));
const textOf = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const PLATFORM = {
  device: 'device',
  tensor_parallel: 'tensor-parallel',
  expert_parallel: 'expert-parallel',
  attention_data_parallel: 'attention-data-parallel',
  pipeline_parallel: 'pipeline-parallel',
  draft_tensor_parallel: 'draft-tensor-parallel',
  gpus: 'gpus',
  interconnect: 'interconnect',
  stack: 'stack',
  engine: 'engine',
  expert_kernels: 'expert-kernels',
  attention_kernels: 'attention-kernels',
  mode: 'mode',
  prefill: 'prefill',
  token_budget: 'token-budget',
  memory_utilisation: 'memory-utilisation',
  price: 'price',
};

const PARTS = {
  title: textOf,
  draft_tokens: axisText,
  verification: listed,
  rollback: listed,
  decoding: textOf,
  prompt_tokens: lengthsText,
  output_tokens: lengthsText,
  prefix_hit: textOf,
  shared_prefix: textOf,
  expert_pool: textOf,
  objective: textOf,
};
const FLAGS = { prompt_tokens: 'prompt' };
const TRAFFIC = { batch: axisText, concurrency: axisText, arrival_rate: listed, context: axisText, shares_of: textOf };
const LIMITS = {
  tpot_ms: 'max-tpot-ms',
  ttft_ms: 'max-ttft-ms',
  memory_gb: 'max-memory-gb',
  minimum_gain: 'minimum-gain',
  ttft_growth: 'ttft-growth',
  waiting: 'waiting',
};

const dashed = (key) => key.replaceAll('_', '-');

function drafterFlags(drafter) {
  if (typeof drafter === 'string') return [['drafter', drafter]];
  const { published, kind, acceptance, ...rest } = drafter;
  const name = published ?? kind;
  const positions = acceptance?.per_position;
  const file = acceptance?.file;
  const onlyOne = acceptance === undefined || Object.keys(acceptance).length === 1;
  if (name && !(published && kind) && Object.keys(rest).length === 0 && onlyOne && (positions || file || !acceptance)) {
    return [['drafter', name], ...(acceptance ? [['acceptance', file ?? positions.join(',')]] : [])];
  }
  return [['drafter', JSON.stringify(drafter)]];
}

const shapeText = (shape) =>
  shape?.parents ? `parents:${shape.parents.join(',')}` : typeof shape === 'string' ? shape : null;

/** Pairs of flag and value; null where a part of the question has no flag. */
export function flagsOf(question) {
  const flags = [];
  for (const [key, value] of Object.entries(question)) {
    if (key === 'source') continue; // a remark
    if (key === 'target') {
      flags.push(['target', typeof value === 'string' ? value : value.model]);
      if (value.precision !== undefined) flags.push(['precision', textOf(value.precision)]);
    } else if (key === 'platforms' && [value].flat().length === 1) {
      const platform = typeof [value].flat()[0] === 'string' ? { device: [value].flat()[0] } : [value].flat()[0];
      for (const [name, part] of Object.entries(platform)) {
        if (!(name in PLATFORM) || typeof part === 'object') return null;
        flags.push([PLATFORM[name], String(part)]);
      }
    } else if (key === 'drafters') {
      const drafters = [value].flat();
      flags.push(...(drafters.length === 0 ? [['drafter', 'none']] : drafters.flatMap(drafterFlags)));
    } else if (key === 'shapes') {
      const texts = [value].flat().map(shapeText);
      if (texts.includes(null)) return null;
      flags.push(...texts.map((text) => ['shape', text]));
    } else if (key === 'traffic') {
      for (const [name, part] of Object.entries(value)) {
        if (!(name in TRAFFIC)) return null;
        flags.push([dashed(name), TRAFFIC[name](part)]);
      }
    } else if (key === 'limits') {
      for (const [name, part] of Object.entries(value)) flags.push([LIMITS[name] ?? dashed(name), String(part)]);
    } else if (key in PARTS) {
      flags.push([FLAGS[key] ?? dashed(key), PARTS[key](value)]);
    } else {
      return null;
    }
  }
  return flags;
}

/** A here-document; its end is a line that the text does not have. */
function here(command, text, end) {
  const mark = text.split('\n').includes(end) ? `${end}_` : end;
  return mark === end ? `${command} <<'${end}'\n${text.replace(/\n$/, '')}\n${end}` : here(command, text, mark);
}

/** Names of files that a question asks for, of those that are there. */
export function filesIn(question, files) {
  const texts = (value) => (typeof value === 'object' && value ? Object.values(value).flatMap(texts) : [value]);
  const named = texts(question);
  return Object.keys(files).filter((name) => named.includes(name));
}

/** `files`: texts by name; those that the question asks for are written first. */
export function commandOf(question, files = {}) {
  const written = filesIn(question, files).map((name) => here(`cat >${quoted(name)}`, files[name], 'FILE'));
  const flags = flagsOf(question);
  const whole = JSON.stringify(question, null, 1);
  if (flags) {
    const words = flags.map(([name, value]) => `--${name} ${quoted(value)}`).join(' \\\n  ');
    return [...written, `treeline recommend ${words}`].join('\n');
  }
  // Names in a file are looked for beside it.
  return written.length === 0
    ? here('treeline recommend /dev/stdin', whole, 'QUESTION')
    : [...written, here('cat >question.json', whole, 'QUESTION'), 'treeline recommend question.json'].join('\n');
}
