// A workload (docs/inputs.md), as the form reads and writes it. Keys that the form does not show stay as they are.

export const platformOf = (question) => [question.platforms].flat()[0];
const platformObject = (question) => {
  const platform = platformOf(question);
  return typeof platform === 'string' ? { device: platform } : platform;
};

/** Sets a key, or takes it away: undefined, null and '' mean that the default is meant. */
function put(object, key, value) {
  if (value === undefined || value === null || value === '') delete object[key];
  else object[key] = value;
}

/** What cannot be asked beside what was chosen, by question: it comes back when the choice is taken back. */
const setAside = new WeakMap();

/** A title names what the question was first about. */
const untitled = (question) => delete question.title;

export const platformKey = (key) => ({
  get: (question) => platformObject(question)[key],
  set(question, value) {
    const platform = platformObject(question);
    put(platform, key, value);
    question.platforms = [platform];
    untitled(question);
  },
});

export const engine = {
  get: (question) => platformObject(question).engine ?? platformObject(question).stack?.replace(/-[\d.]+$/, ''),
  set(question, value) {
    const platform = platformObject(question);
    delete platform.stack;
    put(platform, 'engine', value);
    question.platforms = [platform];
    untitled(question);
  },
};

export const key = (name) => ({ get: (question) => question[name], set: (question, value) => put(question, name, value) });

export const limit = (name) => ({
  get: (question) => question.limits?.[name],
  set(question, value) {
    question.limits = { ...question.limits };
    put(question.limits, name, value);
    if (Object.keys(question.limits).length === 0) delete question.limits;
  },
});

// --- target ---

export const target = {
  get: (question) => (typeof question.target === 'string' ? question.target : question.target.model),
  set(question, value) {
    question.target = typeof question.target === 'string' ? value : { ...question.target, model: value };
    // Published drafters are made for one model; those with a curve of the reader's own stay.
    const kept = draftersOf(question).filter((drafter) => typeof drafter === 'object' && !drafter.published);
    put(question, 'drafters', kept.length > 0 ? kept : undefined);
    untitled(question);
  },
};

const precisionOf = (question) => (typeof question.target === 'string' ? undefined : question.target.precision);

function setPrecision(question, precision) {
  const model = target.get(question);
  question.target = precision === undefined ? model : { model, precision };
}

export const checkpoint = {
  get(question) {
    const precision = precisionOf(question);
    return typeof precision === 'object' ? precision.checkpoint : precision;
  },
  set(question, value) {
    const precision = precisionOf(question);
    if (typeof precision === 'object') {
      put(precision, 'checkpoint', value);
      setPrecision(question, Object.keys(precision).length > 0 ? precision : undefined);
    } else {
      setPrecision(question, value || undefined);
    }
  },
};

export const cacheFormat = {
  get(question) {
    const precision = precisionOf(question);
    const format = typeof precision === 'object' ? precision.kv_cache : undefined;
    return typeof format === 'object' ? format.format : format;
  },
  set(question, value) {
    const before = precisionOf(question);
    const precision = typeof before === 'object' ? { ...before } : before ? { checkpoint: before } : {};
    put(precision, 'kv_cache', value);
    const keys = Object.keys(precision);
    setPrecision(question, keys.length === 0 ? undefined : keys.join() === 'checkpoint' ? precision.checkpoint : precision);
  },
};

// --- lists with shares, as one line of text ---

/** "32", "8, 16" or "8:0.3, 16:0.7". */
export function textOfList(list, name = 'value') {
  if (list === undefined) return '';
  if (!Array.isArray(list)) return typeof list === 'object' ? JSON.stringify(list) : String(list);
  return list.map((entry) => (typeof entry === 'object' ? `${entry[name]}:${entry.share ?? 1}` : entry)).join(', ');
}

// --- texts of fields: each is read as {value}, undefined where it is empty, or as {problem}, a sentence ---

const quoted = (text) => `“${text.trim()}”`;

function jsonOf(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: `${quoted(text)} is no JSON.` };
  }
}

export function readNumber(text) {
  if (text.trim() === '') return {};
  const value = Number(text);
  if (Number.isFinite(value)) return { value };
  const dotted = text.trim().replace(',', '.');
  return { problem: `${quoted(text)} is no number${Number.isFinite(Number(dotted)) ? `; write ${dotted}` : ''}.` };
}

export function readCount(text) {
  const read = readNumber(text);
  const counts = read.value === undefined || (Number.isInteger(read.value) && read.value > 0);
  return counts ? read : { problem: `${quoted(text)} is not 1, 2, 3, …` };
}

/** Numbers, or with shares, as objects: [{[name], share}]. */
export const readList =
  (name = 'value') =>
  (text) => {
    if (text.trim() === '') return {};
    if (text.trim().startsWith('{')) return jsonOf(text);
    const parts = text
      .split(/[,;\s]+/)
      .filter(Boolean)
      .map((part) => part.split(':').map((word) => (word === '' ? Number.NaN : Number(word))));
    if (!parts.every((part) => part.length <= 2 && part.every(Number.isFinite)))
      return { problem: `${quoted(text)} is no number, nor numbers with shares such as 8:0.3, 32:0.7.` };
    const shared = parts.some((part) => part.length === 2) || (name === 'tokens' && parts.length > 1);
    return { value: parts.map(([value, share = 1]) => (shared ? { [name]: value, share } : value)) };
  };

/** A tree: a kind and its numbers, a name, or an object. */
export const readShape = (text) => (text.trim().startsWith('{') ? jsonOf(text) : { value: text.trim() });

export function readRanks(text) {
  const ranks = text
    .split(/[,\s]+/)
    .filter(Boolean)
    .map(Number);
  return ranks.every((rank) => rank >= 0 && rank <= 1)
    ? { value: ranks }
    : { problem: `${quoted(text)} is no list of probabilities, 0 to 1.` };
}

/** What `read` reads, but not nothing. */
export const required = (read) => (text) => (text.trim() === '' ? { problem: 'A value is needed here.' } : read(text));

// --- traffic ---

export const LOADS = [
  ['concurrency', 'requests in flight'],
  ['arrival_rate', 'requests/s'],
  ['batch', 'batch, decoding alone'],
];

const mean = (list = 0) => {
  if (typeof list === 'number') return list;
  if (!Array.isArray(list)) return list.mean ?? 0;
  const parts = list.map((entry) => (typeof entry === 'object' ? entry : { tokens: entry, share: 1 }));
  const shares = parts.reduce((sum, { share = 1 }) => sum + share, 0);
  return parts.reduce((sum, { tokens, share = 1 }) => sum + tokens * share, 0) / shares;
};

export const loadKind = {
  get: (question) => LOADS.map(([name]) => name).find((name) => question.traffic?.[name] !== undefined) ?? 'batch',
  set(question, kind) {
    const before = loadKind.get(question);
    const { [before]: value, context: given, ...traffic } = question.traffic ?? {};
    const aside = { ...setAside.get(question) };
    setAside.set(question, aside);
    if (kind === 'batch') {
      // In the middle of an answer.
      aside.context ??= [Math.max(1, Math.round(mean(question.prompt_tokens) + mean(question.output_tokens) / 2))];
      aside.output_tokens = question.output_tokens ?? aside.output_tokens;
      delete question.output_tokens;
    } else {
      aside.context = given ?? aside.context;
      question.output_tokens ??= aside.output_tokens ?? 300;
      question.prompt_tokens ??= 1000;
    }
    question.traffic = { ...traffic, [kind]: value ?? [1], ...(kind === 'batch' ? { context: given ?? aside.context } : {}) };
    if (kind === 'arrival_rate' && ['throughput', 'cost'].includes(question.objective)) delete question.objective;
  },
};

export const load = {
  get: (question) => textOfList(question.traffic?.[loadKind.get(question)]),
  set(question, list) {
    question.traffic = { ...question.traffic, [loadKind.get(question)]: list };
  },
};

export const context = {
  get: (question) => textOfList(question.traffic?.context),
  set(question, list) {
    question.traffic = { ...question.traffic };
    put(question.traffic, 'context', list);
  },
};

export const lengths = (name) => ({
  get: (question) => textOfList(question[name], 'tokens'),
  set: (question, list) =>
    put(question, name, Array.isArray(list) && list.length === 1 && typeof list[0] === 'number' ? list[0] : list),
});

// --- what is drafted ---

/** The longest chain that is tried; undefined: as far as each drafter was measured. */
export const longest = {
  get({ draft_tokens: tokens }) {
    if (typeof tokens === 'object' && tokens !== null) return Array.isArray(tokens) ? Math.max(...tokens) : tokens.to;
    return tokens;
  },
  set: (question, value) => put(question, 'draft_tokens', value ? { from: 1, to: value } : undefined),
};

/** States chains of up to as many drafts as were measured, 8 where a rate or a file says it, where the question has none and a drafter is
 *  described: the library takes lengths of its own only for drafters by name. As flags without --draft-tokens do. */
export function stateLengths(question) {
  const described = draftersOf(question).filter((drafter) => typeof drafter === 'object');
  if (question.draft_tokens !== undefined || question.shapes !== undefined || described.length === 0) return;
  longest.set(question, Math.max(...described.map(({ acceptance }) => acceptance?.per_position?.length || 8)));
}

// Trees. One with `parents` is drawn, node by node; others are kept as they are written. An engine that drafts trees takes those
// of one form alone, three numbers in the words of its flags; without an engine every tree is priced.

export const TREE_FORMS = {
  sglang: {
    engine: 'SGLang',
    numbers: [
      ['steps', 'Steps'],
      ['top_k', 'Top-k'],
      ['draft_tokens', 'Tokens, root included'],
    ],
    first: [3, 2, 6],
  },
  tensorrt_llm: {
    engine: 'TensorRT-LLM',
    numbers: [
      ['max_draft_len', 'Levels'],
      ['max_top_k', 'Top-k'],
      ['max_total_draft_tokens', 'Tokens, root excluded'],
    ],
    first: [3, 2, 6],
  },
};

const FIRST_TREE = { parents: [0, 0, 1, 1, 3] };

/** A list; a workload may have one shape without it. */
export const shapesOf = ({ shapes = [] }) => (Array.isArray(shapes) ? shapes : [shapes]);

/** The tree that is drawn: the only one, which says the parent of each node. */
export const treeOf = (question) => (shapesOf(question).length === 1 ? (shapesOf(question)[0]?.parents ?? null) : null);

/** {form, numbers} of a shape of an engine's own form, however it is written; null of others. */
export function engineTree(shape) {
  const [word, texts] = typeof shape === 'string' ? shape.split(':') : Object.entries(shape)[0];
  const form = TREE_FORMS[word];
  const numbers = typeof texts === 'string' ? texts.split(',').map(Number) : form?.numbers.map(([key]) => texts[key]);
  return form && numbers?.length === 3 && numbers.every(Number.isInteger) ? { form: word, numbers } : null;
}

export const treeText = (form, numbers) => `${form}:${numbers.join(',')}`;

/** A tree to begin with. `form`: of the engine's trees; empty without an engine. */
export const firstTree = (form) => (form ? treeText(form, TREE_FORMS[form].first) : FIRST_TREE);

/** One more tree beside others: of the last one's form a step deeper. */
export function anotherTree(shapes, form) {
  const last = shapes.map(engineTree).findLast((tree) => tree?.form === form);
  if (!form) return `branching:3,2${',1'.repeat(shapes.length)}`;
  return last ? treeText(form, [last.numbers[0] + 1, last.numbers[1], last.numbers[2] + 2]) : firstTree(form);
}

export function setShapes(question, shapes) {
  put(question, 'shapes', shapes.length > 0 ? shapes : undefined);
}

/** What is drafted: chains, trees, or both. */
export const drafted = {
  get: (question) => (shapesOf(question).length === 0 ? 'chain' : question.draft_tokens === undefined ? 'tree' : 'both'),
  /** `form`: of a tree, if there is none yet. */
  set(question, value, form) {
    const aside = { ...setAside.get(question) };
    setAside.set(question, aside);
    if (value === 'tree') {
      aside.draft_tokens = question.draft_tokens;
      delete question.draft_tokens;
    } else {
      question.draft_tokens ??= aside.draft_tokens ?? { from: 1, to: 5 };
    }
    if (value === 'chain') {
      aside.shapes = question.shapes;
      delete question.shapes;
    } else if (shapesOf(question).length === 0) {
      question.shapes = aside.shapes ?? [firstTree(form)];
    }
  },
};

// --- drafters: a list of names and objects; without one the catalogue's known ones ---

/** Kinds that the form offers, as papers write them. */
export const NAMES_OF_KINDS = {
  eagle3: 'EAGLE-3',
  eagle: 'EAGLE',
  mtp: 'MTP',
  dflash: 'DFlash',
  'p-eagle': 'P-EAGLE',
  medusa: 'Medusa',
  ngram: 'n-gram look-up',
  suffix: 'suffix decoding',
};
export const KINDS = Object.keys(NAMES_OF_KINDS);

/** A list; a workload may have one drafter, or "known", without it. */
export const draftersOf = ({ drafters = 'known' }) => (Array.isArray(drafters) ? drafters : [drafters]);

export function nameOfDrafter(drafter) {
  if (typeof drafter === 'string') return drafter;
  return drafter.published ?? drafter.name ?? drafter.kind ?? drafter.model;
}

/** The drafter as an object: names are those of published ones, or of kinds. */
export function drafterObject(drafter) {
  if (typeof drafter === 'object') return { ...drafter };
  return KINDS.includes(drafter) ? { kind: drafter } : { published: drafter };
}

/** The drafter with its acceptance set by hand; what else is known of it stays. */
export function withPositions(drafter, positions) {
  const rounded = positions.map((value) => Math.round(value * 1000) / 1000);
  const { acceptance, ...rest } = drafterObject(drafter);
  const ranks = acceptance?.per_rank;
  return { ...rest, acceptance: { per_position: rounded, ...(ranks ? { per_rank: ranks } : {}) } };
}

/** The same with nothing set by hand. */
export function asMeasured(drafter) {
  const { acceptance, ...rest } = drafterObject(drafter);
  return Object.keys(rest).length === 1 ? (rest.published ?? rest.kind ?? rest) : rest;
}

export function withRanks(drafter, ranks) {
  const { acceptance = {}, ...rest } = drafterObject(drafter);
  const changed = { ...acceptance };
  put(changed, 'per_rank', ranks?.length ? ranks : undefined);
  return Object.keys(changed).length > 0 ? { ...rest, acceptance: changed } : rest;
}
