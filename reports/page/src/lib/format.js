// Numbers as people read them. Everything that is missing or not finite reads as an en dash.

const MISSING = '–';
const SPACE = '\u00a0'; // keeps a number and its unit on one line
export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

/** With `digits` decimals, or with three significant digits where none are given (thousands keep all of theirs). */
export function number(value, digits) {
  if (!isNumber(value)) return MISSING;
  return writer(digits ?? (Math.abs(value) >= 1000 ? 0 : undefined)).format(value);
}

const writers = new Map();

/** Number formats are slow to make, so each is made once. */
function writer(digits) {
  if (!writers.has(digits)) {
    writers.set(
      digits,
      new Intl.NumberFormat(
        'en',
        digits === undefined
          ? { maximumSignificantDigits: 3 }
          : { minimumFractionDigits: digits, maximumFractionDigits: digits },
      ),
    );
  }
  return writers.get(digits);
}

export const times = (value, digits = 2) => (isNumber(value) ? `${number(value, digits)}×` : MISSING);
export const percent = (share) => (isNumber(share) ? `${number(100 * share, 100 * share < 9.95 ? 1 : 0)}${SPACE}%` : MISSING);

export function microseconds(value) {
  if (!isNumber(value)) return MISSING;
  if (value < 1000) return `${number(value)}${SPACE}µs`;
  return value < 1e6 ? `${number(value / 1e3)}${SPACE}ms` : `${number(value / 1e6)}${SPACE}s`;
}

/** A value with its unit; the unit "x" is a ratio. */
export function quantity(value, unit, digits) {
  if (!isNumber(value)) return MISSING;
  if (unit === 'x' || unit === '×') return times(value, digits ?? 2);
  return unit ? `${number(value, digits)}${SPACE}${unit}` : number(value, digits);
}

/** Any value of a table cell. */
export function cell(value, digits) {
  if (value === undefined || value === null || value === '') return MISSING;
  if (typeof value === 'number') return number(value, digits);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export const batchRange = ({ batch_from: from, batch_to: to }) =>
  from === to ? number(from) : `${number(from)}${SPACE}–${SPACE}${number(to)}`;

/** The rows in which each of `keys` is a finite number: what a chart can place. */
export const placeable = (rows, ...keys) => (rows ?? []).filter((row) => keys.every((key) => isNumber(row[key])));

export function unique(rows, key) {
  const values = [...new Set(rows.map((row) => row[key]).filter((value) => value !== undefined && value !== null))];
  return values.every(isNumber) ? values.sort((a, b) => a - b) : values;
}
