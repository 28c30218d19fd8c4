// How wide a text will be. The page names a list of families and each machine has others of them, so whatever must keep clear of a text asks
// here instead of assuming a width.

const context = document.createElement('canvas').getContext('2d');
const known = new Map();

/** The families of the page's text, as CSS names them. */
export const fontFamily = () => getComputedStyle(document.documentElement).getPropertyValue('--sans').trim();

/** Pixels that `text` takes on one line. */
export function textWidth(text, { size = 12, weight = 400 } = {}) {
  const key = `${weight} ${size} ${text}`;
  if (!known.has(key)) {
    context.font = `${weight} ${size}px ${fontFamily()}`;
    known.set(key, context.measureText(text).width);
  }
  return known.get(key);
}

/** `text`, or as much of it as `room` pixels hold, with an ellipsis. */
export function shortened(text, room, font) {
  if (textWidth(text, font) <= room) return text;
  let [fits, fails] = [0, text.length];
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (textWidth(`${text.slice(0, middle)}…`, font) <= room) fits = middle;
    else fails = middle;
  }
  return `${text.slice(0, fits).trimEnd()}…`;
}

export const widest = (texts, font) => Math.max(0, ...texts.map((text) => textWidth(text, font)));

/** The domain of an axis `inner` pixels long on which `low` lies `left` pixels from the beginning and `high` `right` pixels from the end. */
export function domainWithRoom([low, high], [left, right], inner) {
  const perPixel = (high - low) / Math.max(inner / 4, inner - left - right);
  return [low - left * perPixel, high + right * perPixel];
}
