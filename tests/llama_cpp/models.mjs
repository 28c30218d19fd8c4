// Random models in two layouts that llama.cpp decodes: a Transformer ("llama") and Mamba-2. The head maps each token to a fixed successor, and
// the layers only disturb that, so that a small drafter with the same head agrees with its target as often as `disturbance` lets it.
import { renameSync, writeFileSync } from 'node:fs';
import { writeGguf } from './gguf.mjs';

const VOCABULARY = 4096;
export const FIRST_WORD = 259; // after three control tokens and 256 bytes
const CODE = 64; // coordinates that tell tokens apart; the fewer, the more often layers change the choice

// 32-bit weights: llama.cpp then multiplies one row and several by kernels of the same kind, so a pass takes a + b·n for n tokens.
const transformer = (name, width, layers, disturbance) => ({
  ...{ name, kind: 'llama', width, layers, disturbance },
  ...{ heads: width / 64, kvHeads: width / 256, headDim: 64, hidden: (width * 11) / 4 },
});
const mamba = (name, width, layers, disturbance) => ({
  ...{ name, kind: 'mamba2', width, layers, disturbance },
  ...{ heads: (2 * width) / 64, headDim: 64, state: 128, convolution: 4 },
});

export const DRAFTER = transformer('drafter', 512, 2, 0.5);
export const TARGETS = [
  transformer('transformer-large', 1024, 8, 2.5),
  transformer('transformer-small', 768, 6, 2.5),
  mamba('mamba', 768, 12, 2.5),
];

/** Uniform 32-bit numbers (xorshift); the same seed gives the same file everywhere. */
function uniform(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}

/** Variance 1 and a bell good enough for weights: the sum of four uniform bytes. */
function normal(next) {
  const word = next();
  return ((word & 255) + ((word >>> 8) & 255) + ((word >>> 16) & 255) + (word >>> 24) - 510) / 147.8;
}

const random = (seed, scale) => {
  const next = uniform(seed);
  return (chunk) => {
    for (let i = 0; i < chunk.length; i += 1) chunk[i] = scale * normal(next);
  };
};
const constant = (value) => (chunk) => chunk.fill(value);

/** Tokens in the SentencePiece layout: unknown, start, end, 256 bytes, and words without meaning. */
function tokenizer() {
  const tokens = ['<unk>', '<s>', '</s>'];
  for (let byte = 0; byte < 256; byte += 1) tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  while (tokens.length < VOCABULARY) tokens.push(`w${tokens.length}`);
  const [unknown, control, byte, word] = [2, 3, 6, 1];
  const kind = (id) => (id === 0 ? unknown : id < 3 ? control : id < FIRST_WORD ? byte : word);
  return [
    ['tokenizer.ggml.model', 'string', 'llama'],
    ['tokenizer.ggml.tokens', 'array', ['string', tokens]],
    ['tokenizer.ggml.scores', 'array', ['f32', tokens.map((_, id) => -id)]],
    ['tokenizer.ggml.token_type', 'array', ['i32', tokens.map((_, id) => kind(id))]],
    ['tokenizer.ggml.bos_token_id', 'u32', 1],
    ['tokenizer.ggml.eos_token_id', 'u32', 2],
  ];
}

/** Embedding and head: row `id` of the head is the code of the word before `id`, so that each word calls for the next. */
function codes(width) {
  const table = new Float32Array(VOCABULARY * CODE);
  random(7, 1)(table);
  const put = (token, chunk, at) => chunk.set(table.subarray(token * CODE, (token + 1) * CODE), at);
  const words = VOCABULARY - FIRST_WORD;
  return {
    embedding: (chunk, start) => {
      for (let at = 0; at < chunk.length; at += width) put((start + at) / width, chunk, at);
    },
    head: (chunk, start) => {
      for (let at = 0; at < chunk.length; at += width) {
        const word = (start + at) / width - FIRST_WORD;
        // Control and byte tokens keep a row of zeros: their logit is 0, the right word's about |code|².
        if (word >= 0) put(FIRST_WORD + ((word + words - 1) % words), chunk, at);
      }
    },
  };
}

/** The scale of weights that write into the stream: all layers together move a code by about `disturbance`. */
const outputScale = ({ disturbance, layers }, fanIn) => disturbance / Math.sqrt(2 * layers * fanIn);
const inputScale = ({ width }) => 1 / Math.sqrt(width);

function transformerLayer(model, matrix, vector) {
  const { width, heads, kvHeads, headDim, hidden } = model;
  return [
    vector('attn_norm.weight', [width], 1),
    matrix('attn_q.weight', width, heads * headDim, inputScale(model)),
    matrix('attn_k.weight', width, kvHeads * headDim, inputScale(model)),
    matrix('attn_v.weight', width, kvHeads * headDim, inputScale(model)),
    matrix('attn_output.weight', width, width, outputScale(model, width)),
    vector('ffn_norm.weight', [width], 1),
    matrix('ffn_gate.weight', width, hidden, inputScale(model)),
    matrix('ffn_up.weight', width, hidden, inputScale(model)),
    matrix('ffn_down.weight', hidden, width, outputScale(model, hidden)),
  ];
}

function mambaLayer(model, matrix, vector) {
  const { width, heads, headDim, state, convolution } = model;
  const inner = heads * headDim;
  const channels = inner + 2 * state;
  return [
    vector('attn_norm.weight', [width], 1),
    matrix('ssm_in.weight', width, inner + channels + heads, inputScale(model)),
    matrix('ssm_conv1d.weight', convolution, channels, 0.5),
    vector('ssm_conv1d.bias', [channels], 0),
    vector('ssm_dt.bias', [heads], -2),
    vector('ssm_a', [1, heads], -1),
    vector('ssm_d', [1, heads], 1),
    vector('ssm_norm.weight', [inner, 1], 1),
    matrix('ssm_out.weight', inner, width, outputScale(model, inner)),
  ];
}

function tensorsOf(model, seed) {
  const { embedding, head } = codes(model.width);
  const layer = model.kind === 'llama' ? transformerLayer : mambaLayer;
  const tensors = [
    { name: 'token_embd.weight', shape: [model.width, VOCABULARY], fill: embedding },
    { name: 'output_norm.weight', shape: [model.width], fill: constant(1) },
    { name: 'output.weight', shape: [model.width, VOCABULARY], fill: head },
  ];
  for (let i = 0; i < model.layers; i += 1) {
    const named = (name) => `blk.${i}.${name}`;
    const matrix = (name, from, to, scale) => ({ name: named(name), shape: [from, to], fill: random((seed += 1), scale) });
    const vector = (name, shape, value) => ({ name: named(name), shape, fill: constant(value) });
    tensors.push(...layer(model, matrix, vector));
  }
  return tensors;
}

/** Weights of the layers that each token of a prompt is multiplied with. */
export function layerWeights(model) {
  const matrices = tensorsOf(model, 0).filter(({ name, shape }) => name.startsWith('blk.') && shape[1] > 1);
  return matrices.reduce((sum, { shape }) => sum + shape[0] * shape[1], 0);
}

function metadataOf(model) {
  const { kind, width, layers } = model;
  const own =
    kind === 'llama'
      ? {
          'feed_forward_length': model.hidden,
          'attention.head_count': model.heads,
          'attention.head_count_kv': model.kvHeads,
          'rope.dimension_count': model.headDim,
        }
      : {
          'ssm.conv_kernel': model.convolution,
          'ssm.inner_size': model.heads * model.headDim,
          'ssm.state_size': model.state,
          'ssm.time_step_rank': model.heads,
          'ssm.group_count': 1,
        };
  const sizes = { context_length: 8192, embedding_length: width, block_count: layers, vocab_size: VOCABULARY, ...own };
  return [
    ['general.architecture', 'string', kind],
    ['general.name', 'string', model.name],
    [`${kind}.attention.layer_norm_rms_epsilon`, 'f32', 1e-5],
    ...Object.entries(sizes).map(([key, value]) => [`${kind}.${key}`, 'u32', value]),
    ...tokenizer(),
  ];
}

/** The model as a GGUF file; a file of that name is always complete. */
export function writeModel(path, model, seed) {
  writeGguf(`${path}.part`, metadataOf(model), tensorsOf(model, seed));
  renameSync(`${path}.part`, path);
}

/** The same model as Treeline describes it (models/README.md). */
export function writeDescription(path, model) {
  const { heads, kvHeads, headDim, hidden, state, convolution } = model;
  const blocks =
    model.kind === 'llama'
      ? [{ attention: { query_heads: heads, kv_heads: kvHeads, head_dim: headDim } }, { mlp: { hidden } }]
      : [{ mamba2: { heads, head_dim: headDim, state, groups: 1, conv_width: convolution, chunk: 256 } }];
  const description = {
    ...{ name: model.name, source: 'written by this test', kind: 'assumed' },
    ...{ vocabulary: 'words', vocabulary_size: VOCABULARY, width: model.width, tied_embeddings: false, norm: 'rms' },
    layers: { layer: { blocks } },
    order: [{ repeat: model.layers, layers: ['layer'] }],
    precision: { weights: 'fp32', activations: 'fp32', kv_cache: 'fp16', state: 'fp32', math: 'fp32' },
  };
  writeFileSync(path, JSON.stringify(description, null, 1));
}
