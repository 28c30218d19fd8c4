// Axis values that a person would choose, as many as have room: 1, 2 and 5 times powers of ten, or powers of two.
import { textWidth } from './text.js';

const GAP = 8; // pixels between two neighbouring numbers
const LINE = 26; // pixels from one number to the next above each other

const writer = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

/** As the charts' number format ",~r" writes it. */
const tickLabel = (value) => writer.format(value);

/** Values at which labels keep clear of each other: `place` maps a value to pixels. */
function clear(values, place, vertical) {
  let end = -Infinity;
  return values.every((value) => {
    const half = vertical ? LINE / 2 : (textWidth(tickLabel(value)) + GAP) / 2;
    const begins = Math.abs(place(value) - place(values[0])) - half;
    const free = begins >= end;
    end = begins + 2 * half;
    return free;
  });
}

/** Multiples of 1, 2 or 5 times a power of ten within [low, high]; at most `most` of them. */
export function roundNumbers(low, high, most) {
  if (!(high > low)) return [low];
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The given multiples of powers of `base` within [low, high]; of the powers, every `stride`-th. */
function multiples(low, high, base, factors, stride = 1) {
  const values = [];
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  for (let n = Math.floor(Math.log(low) / Math.log(base) - 1e-9); n <= last; n += 1) {
    if (((n % stride) + stride) % stride !== 0) continue;
    for (const factor of factors) {
      const value = Number((factor * base ** n).toPrecision(12));
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) values.push(value);
    }
  }
  return values;
}

/** Ticks of a log axis from `low` to `high` over `pixels`; `base` 2 takes powers of two, any other 1, 2 and 5 times powers of ten. */
export function logTicks(low, high, pixels, { vertical = false, base = 10 } = {}) {
  const place = (value) => (Math.log(value / low) / Math.log(high / low)) * pixels;
  const strides = [1, 2, 3, 4, 6, 8];
  const powers = strides.map((stride) => multiples(low, high, base, [1], stride));
  const rows = base === 2 ? powers : [multiples(low, high, 10, [1, 2, 5]), ...powers];
  const found = rows.find((values) => values.length >= 3 && clear(values, place, vertical));
  if (found) return found;
  // Less than a decade or two: even steps, as many as stay apart at the axis's narrowest.
  for (let most = 8; most > 1; most -= 1) {
    const values = roundNumbers(low, high, most).filter((value) => value > 0);
    if (values.length >= 2 && clear(values, place, vertical)) return values;
  }
  return rows.filter((values) => values.length > 0 && clear(values, place, vertical)).sort((a, b) => b.length - a.length)[0] ?? [];
}

/** Ticks of a linear axis from `low` to `high` over `pixels`; whole numbers only where `whole`. */
export function linearTicks(low, high, pixels, { vertical = false, whole = false } = {}) {
  const place = (value) => ((value - low) / (high - low)) * pixels;
  for (let most = vertical ? 7 : 9; most > 1; most -= 1) {
    const values = roundNumbers(low, high, most).filter((value) => !whole || Number.isInteger(value));
    if (values.length >= 2 && clear(values, place, vertical)) return values;
  }
  return roundNumbers(low, high, 2);
}
