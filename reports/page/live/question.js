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

export const platformKey = (key) => ({
  get: (question) => platformObject(question)[key],
  set(question, value) {
    const platform = platformObject(question);
    put(platform, key, value);
    question.platforms = [platform];
  },
});

export const engine = {
  get: (question) => platformObject(question).engine ?? platformObject(question).stack?.replace(/-[\d.]+$/, ''),
  set(question, value) {
    const platform = platformObject(question);
    delete platform.stack;
    put(platform, 'engine', value);
    question.platforms = [platform];
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

/** The list that a text says; undefined where it says none. */
export function listOfText(text, name = 'value') {
  if (text.trim() === '') return undefined;
  if (text.trim().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }
  const parts = text
    .split(/[,;\s]+/)
    .filter(Boolean)
    .map((part) => part.split(':').map(Number));
  if (!parts.every((part) => part.length <= 2 && part.every(Number.isFinite))) return undefined;
  const shared = parts.some((part) => part.length === 2) || (name === 'tokens' && parts.length > 1);
  return parts.map(([value, share = 1]) => (shared ? { [name]: value, share } : value));
}

// --- traffic ---

export const LOADS = [
  ['concurrency', 'requests in flight'],
  ['arrival_rate', 'requests/s'],
  ['batch', 'batch, decoding alone'],
];

export const loadKind = {
  get: (question) => LOADS.map(([name]) => name).find((name) => question.traffic?.[name] !== undefined) ?? 'batch',
  set(question, kind) {
    const before = loadKind.get(question);
    const traffic = { ...question.traffic };
    const value = traffic[before];
    delete traffic[before];
    traffic[kind] = value ?? [1];
    question.traffic = traffic;
    if (kind === 'arrival_rate' && ['throughput', 'cost'].includes(question.objective)) delete question.objective;
    if (kind !== 'batch') {
      question.output_tokens ??= 300;
      question.prompt_tokens ??= 1000;
      delete traffic.context;
    } else {
      delete question.output_tokens;
    }
  },
};

export const load = {
  get: (question) => textOfList(question.traffic?.[loadKind.get(question)]),
  set(question, text) {
    const list = listOfText(text);
    if (list !== undefined) question.traffic = { ...question.traffic, [loadKind.get(question)]: list };
  },
};

export const context = {
  get: (question) => textOfList(question.traffic?.context),
  set(question, text) {
    question.traffic = { ...question.traffic };
    put(question.traffic, 'context', listOfText(text));
  },
};

export const lengths = (name) => ({
  get: (question) => textOfList(question[name], 'tokens'),
  set(question, text) {
    const list = listOfText(text, 'tokens');
    put(question, name, Array.isArray(list) && list.length === 1 && typeof list[0] === 'number' ? list[0] : list);
  },
});

// --- what is drafted ---

/** The longest chain that is tried; undefined: as far as each drafter was measured. */
export const longest = {
  get({ draft_tokens: tokens }) {
    if (typeof tokens === 'object' && tokens !== null) return Array.isArray(tokens) ? Math.max(...tokens) : tokens.to;
    return tokens;
  },
  set: (question, value) => put(question, 'draft_tokens', value ? { from: 1, to: Number(value) } : undefined),
};

export const treeOf = (question) => question.shapes?.find((shape) => shape?.parents)?.parents ?? null;

/** A tree in place of chains (null: chains again). */
export function setTree(question, parents) {
  if (parents === null) {
    delete question.shapes;
    question.draft_tokens ??= { from: 1, to: 5 };
  } else {
    question.shapes = [{ parents }];
    delete question.draft_tokens;
  }
}

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
