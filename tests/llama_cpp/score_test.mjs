// The goals of loop_test.mjs on made-up rows: met where predictions are right, missed where they are off.
import assert from 'node:assert/strict';
import { choiceOf, quantile, shortfalls } from './score.mjs';

const rows = (errors) =>
  errors.map((error, draftTokens) => ({ target: 'made up', prompt: 64, draftTokens, measured: 10 - draftTokens, predicted: (10 - draftTokens) * (1 + error) }));
const missed = (errors) => shortfalls(rows(errors), [{ load: 'made up', ...choiceOf(rows(errors)) }]);

assert.equal(quantile([3, 1, 2, 4], 0.5), 2.5);
assert.equal(quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 0.9), 10);
assert.deepEqual(missed([0.05, -0.05, 0.02, 0.01]), []);
assert.match(missed([0.07, -0.07, 0.07, 0.07]).join(), /^the median error is 7.0 %, above 6.0 %$/);
assert.match(missed([0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.4]).join(), /^made up: 6 drafts are predicted best, 7 are by 33.3 %/);
assert.match(missed([0, 0, 0.3, 0.3, 0, 0, 0, 0]).join(), /^the p90 error is 30.0 %, above 15.0 %$/);
assert.deepEqual(shortfalls(rows([0.07, -0.07, 0.07, 0.07]), [], 2), []);
assert.match(missed([NaN, NaN]).join(), /median error is NaN/);
