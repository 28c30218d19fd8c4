// How far predictions are from measured times. A row is {target, prompt, draftTokens, acceptLength, measured, predicted}, in ms per token.

/** Linear between order statistics. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

export const errorOf = (row) => row.predicted / row.measured - 1;

const least = (rows, key) => rows.reduce((best, row) => (row[key] < best[key] ? row : best));

/** The draft length that predictions call best, the one that measurements do, and what the first costs over the second. */
export function choiceOf(rows) {
  const [chosen, best] = [least(rows, 'predicted'), least(rows, 'measured')];
  return { chosen: chosen.draftTokens, best: best.draftTokens, regret: chosen.measured / best.measured - 1 };
}

/** Every goal that is missed, as a sentence. `rows` are those that nothing was fitted to; `choices` what choiceOf() says of each load; goals are multiplied by `allowance`. */
export function shortfalls(rows, choices, allowance = 1) {
  const errors = rows.map((row) => Math.abs(errorOf(row)));
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const sentences = [];
  for (const [name, share, most] of [['median', 0.5, 0.06], ['p90', 0.9, 0.15]]) {
    const error = quantile(errors, share);
    if (!(error <= allowance * most)) sentences.push(`the ${name} error is ${percent(error)}, above ${percent(allowance * most)}`);
  }
  for (const { load, chosen, best, regret } of choices) {
    if (!(regret <= allowance * 0.03)) sentences.push(`${load}: ${chosen} drafts are predicted best, ${best} are by ${percent(regret)}, more than ${percent(allowance * 0.03)}`);
  }
  return sentences;
}
