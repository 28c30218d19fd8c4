// A client of llama.cpp, through node-llama-cpp, that decodes plainly and speculatively. All choices are greedy.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';

const MOST_CHECKPOINTS = 64; // of a recurrent state: the end of the prompt, and the beginning of each round since

/** llama.cpp on the processor, as the package brings it; nothing is compiled or downloaded. */
export const openEngine = (threads) =>
  getLlama({ gpu: false, build: 'never', skipDownload: true, maxThreads: threads, logLevel: LlamaLogLevel.error, progressLogs: false });

/** A model and one sequence of at most `contextSize` tokens. */
export async function openModel(llama, path, { contextSize, threads }) {
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize, batchSize: 512, sequences: 1, threads: { ideal: threads, min: threads } });
  const sequence = context.getSequence({ checkpoints: { interval: false, max: MOST_CHECKPOINTS } });
  return { sequence, recurrent: sequence.needsCheckpoints, prompt: [], close: () => model.dispose() };
}

const greedy = { generateNext: { token: true, options: { temperature: 0 } } };

/** Reads `tokens`; the model's choice after each of the last `choices` of them. */
async function pass({ sequence }, tokens, choices) {
  const silent = tokens.length - choices;
  const results = await sequence.controlledEvaluate(tokens.map((token, i) => (i < silent ? token : [token, greedy])));
  return results.slice(silent).map((result) => result.next.token);
}

/** Forgets all but the first `length` tokens: cuts caches; a recurrent state goes back to its checkpoint there. */
async function forget({ sequence }, length) {
  if (sequence.nextTokenIndex > length) await sequence.eraseContextTokenRanges([{ start: length, end: sequence.nextTokenIndex }]);
}

/**
 * The sequence forgets rejected drafts. A recurrent state cannot: it goes back to where the round began and reads the accepted tokens again,
 * which is what Treeline calls `recompute`.
 */
async function rollBack(model, length, begin) {
  if (!model.recurrent) return forget(model, length);
  const accepted = model.sequence.contextTokens.slice(begin, length);
  await forget(model, begin);
  await model.sequence.evaluateWithoutGeneratingNewTokens(accepted);
}

/** The sequence holds the prompt but its last token. */
async function startOver(model, prompt) {
  const held = prompt.length - 1;
  if (model.prompt === prompt) return forget(model, held);
  await model.sequence.clearHistory();
  await model.sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(0, held));
  if (model.recurrent) await model.sequence.takeCheckpoint();
  model.prompt = prompt;
}

/** Milliseconds that all but the last token of a prompt take to read. */
export async function timeOfPrompt(model, prompt) {
  const { sequence } = model;
  model.prompt = undefined;
  await sequence.clearHistory();
  const begin = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(0, -1));
  return performance.now() - begin;
}

/** One token. */
async function plainRound(target, state) {
  const [choice] = await pass(target, [state.last], 1);
  state.tokens.push(choice);
  state.last = choice;
}

/** `count` drafts one after the other, their verification in one pass, and the way back from what was rejected. */
async function speculativeRound(target, drafter, state, count) {
  const start = target.sequence.nextTokenIndex;
  const draft = await pass(drafter, [...state.unread, state.last], 1);
  while (draft.length < count) draft.push(...(await pass(drafter, draft.slice(-1), 1)));
  if (target.recurrent) await target.sequence.takeCheckpoint();
  const choices = await pass(target, [state.last, ...draft], count + 1);
  let agreed = 0;
  while (agreed < count && choices[agreed] === draft[agreed]) agreed += 1;
  await rollBack(target, start + agreed + 1, start);
  await forget(drafter, start + Math.min(agreed + 1, count)); // it has not read its last draft
  state.unread = agreed === count ? draft.slice(-1) : [];
  state.drafted += count;
  state.accepted += agreed;
  state.tokens.push(...choices.slice(0, agreed + 1));
  state.last = choices[agreed];
}

/**
 * Decodes `count` tokens or a few more after `prompt`, drafting `draftTokens` a round (0: plainly).
 * Returns tokens, drafted, accepted, and the milliseconds of each round.
 */
export async function decode(target, drafter, prompt, { count, draftTokens }) {
  await startOver(target, prompt);
  if (draftTokens > 0) await startOver(drafter, prompt);
  const state = { tokens: [], rounds: [], last: prompt.at(-1), unread: [], drafted: 0, accepted: 0 };
  while (state.tokens.length < count) {
    const begin = performance.now();
    await (draftTokens > 0 ? speculativeRound(target, drafter, state, draftTokens) : plainRound(target, state));
    state.rounds.push(performance.now() - begin);
  }
  return state;
}
