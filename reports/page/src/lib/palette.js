// Colours of the charts in both themes. Series colours follow Okabe and Ito (2008), darkened or lightened to reach a contrast of at least
// 3:1 on the page; every series also differs by shape, dash, position or label.

const light = {
  name: 'light',
  ink: '#1f2429',
  muted: '#59626c',
  rule: '#e4e1da',
  axis: '#b9b5ac',
  surface: '#ffffff',
  faint: '#efece6',
  band: '#f5f2ec',
  series: ['#0072b2', '#c8550b', '#00825f', '#a3478a', '#8f6d00', '#2b3a4a', '#b3446c'],
  neutral: '#7d8590',
  outside: '#c2c4c6',
  warn: '#b3261e',
  diverging: ['#7f3f06', '#d08a3a', '#efebe3', '#5c9fcb', '#0a4a82'],
};

const dark = {
  name: 'dark',
  ink: '#e6e9ec',
  muted: '#a1abb5',
  rule: '#2c3238',
  axis: '#4a525b',
  surface: '#1a1e23',
  faint: '#252b31',
  band: '#20252b',
  series: ['#5fb2ea', '#f0954f', '#45c49c', '#dd8fc4', '#dcbc4c', '#f2f4f6', '#ff9db0'],
  neutral: '#8b949e',
  outside: '#4d555e',
  warn: '#ff8a80',
  diverging: ['#f0ab62', '#96602a', '#2b3138', '#38719f', '#8fcbf7'],
};

export const palettes = { light, dark };

const PLAIN = /^plain\b/;

/**
 * A colour for each value, in the order given; the last colour repeats when there are more values than colours. Plain decoding
 * is grey wherever it stands beside something else.
 */
export function seriesColours(values, palette) {
  const { series, neutral } = palette;
  const coloured = values.filter((value) => !PLAIN.test(value));
  const colourOf = (value) => series[Math.min(coloured.indexOf(value), series.length - 1)];
  return new Map(values.map((value) => [value, PLAIN.test(value) && coloured.length > 0 ? neutral : colourOf(value) ?? series[0]]));
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** The colour `share` of the way from one to another. */
export function mixed(one, other, share) {
  const [from, to] = [channels(one), channels(other)];
  const mix = from.map((value, i) => Math.round(value + (to[i] - value) * share));
  return `#${mix.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** The colour at `position` in [-1, 1] of a diverging palette of five stops. */
export function divergingColour(position, stops) {
  const place = (Math.min(1, Math.max(-1, position)) + 1) * 2;
  const index = Math.min(3, Math.floor(place));
  return mixed(stops[index], stops[index + 1], place - index);
}

/** Black or white, whichever reads better on `background` (relative luminance as WCAG 2 defines it). */
export function inkOn(background) {
  const [r, g, b] = channels(background).map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return luminance > 0.179 ? '#14181c' : '#ffffff';
}
