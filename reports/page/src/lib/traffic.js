// Which points of a chart belong to the given traffic: it spans a range of batches and one of contexts. Everything outside of them
// is grey in every chart.
import { isNumber } from './format.js';

export const OUTSIDE = 'outside the given traffic';

function rangeOf(traffic, key) {
  const values = (traffic ?? []).map((point) => point[key]).filter(isNumber);
  return values.length > 0 ? [Math.min(...values), Math.max(...values)] : [-Infinity, Infinity];
}

/** {batch: [from, to], context: [from, to]}; without any traffic in the data everything is inside. */
export const askedRanges = (data) => ({ batch: rangeOf(data.traffic, 'batch'), context: rangeOf(data.traffic, 'context') });

const within = (value, [from, to]) => !isNumber(value) || (value >= from && value <= to);

/** True for a row whose batch and context lie in the ranges; a row without one of them is judged by the other. */
export const isAsked = (ranges, row) => within(row.batch, ranges.batch) && within(row.context, ranges.context);

/** The ranges, widened to the nearest of the values that a grid has. */
export function onGrid(ranges, batches, contexts) {
  const widened = ([from, to], values) => [
    Math.max(...values.filter((value) => value <= from), Math.min(...values)),
    Math.min(...values.filter((value) => value >= to), Math.max(...values)),
  ];
  return { batch: widened(ranges.batch, batches), context: widened(ranges.context, contexts) };
}

/** An entry of a legend, where some of `rows` lie outside. */
export const outsideEntry = (ranges, rows, palette, shape) =>
  rows.every((row) => isAsked(ranges, row)) ? [] : [{ value: OUTSIDE, label: OUTSIDE, colour: palette.outside, shape }];
