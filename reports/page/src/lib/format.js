// Numbers as people read them. Everything that is missing or not finite reads as an en dash.

const MISSING = '–';
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/** With `digits` decimals, or with three significant digits where none are given (thousands keep all of theirs). */
export function number(value, digits) {
  if (!isNumber(value)) return MISSING;
  if (digits !== undefined) {
    return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
  const options = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString('en', options);
}

export const times = (value, digits = 2) => (isNumber(value) ? `${number(value, digits)}×` : MISSING);
export const percent = (share) => (isNumber(share) ? `${number(100 * share, 100 * share < 9.95 ? 1 : 0)} %` : MISSING);

export function microseconds(value) {
  if (!isNumber(value)) return MISSING;
  if (value < 1000) return `${number(value)} µs`;
  return value < 1e6 ? `${number(value / 1e3)} ms` : `${number(value / 1e6)} s`;
}

/** A value with its unit; the unit "x" is a ratio. */
export function quantity(value, unit, digits) {
  if (!isNumber(value)) return MISSING;
  if (unit === 'x' || unit === '×') return times(value, digits ?? 2);
  return unit ? `${number(value, digits)} ${unit}` : number(value, digits);
}

/** Any value of a table cell. */
export function cell(value, digits) {
  if (value === undefined || value === null || value === '') return MISSING;
  if (typeof value === 'number') return number(value, digits);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export const batchRange = ({ batch_from: from, batch_to: to }) => (from === to ? number(from) : `${number(from)} – ${number(to)}`);

export function unique(rows, key) {
  const values = [...new Set(rows.map((row) => row[key]).filter((value) => value !== undefined && value !== null))];
  return values.every(isNumber) ? values.sort((a, b) => a - b) : values;
}
