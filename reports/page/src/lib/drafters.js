// One colour for each drafter, the same in every chart.
import { unique } from './format.js';
import { seriesColours } from './palette.js';

/** Colours of all drafters that the report's charts name. */
export function drafterColours(data, palette) {
  const rows = [...(data.by_draft_length ?? []), ...(data.pareto ?? []).filter((row) => row.speculative !== false)];
  return seriesColours(unique(rows, 'drafter').sort(), palette);
}
