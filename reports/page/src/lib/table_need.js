// How wide a table must be at least, so that print.css can choose a size of type in which no word is cut.
import { cell } from './format.js';
import { textWidth, widest } from './text.js';

const PADDING = 0.8; // ems, as print.css sets it
const LONG_TEXT = 8; // ems that a column of sentences or names is given
const EM = 100;

/** Ems of the widest word of a heading or number of each column, all columns together; sentences and names may wrap anywhere. */
export function emsOf(columns, rows) {
  return columns.reduce((sum, column) => sum + PADDING + emsOfColumn(column, rows), 0);
}

function emsOfColumn(column, rows) {
  const words = `${column.title} ${column.unit ?? ''} ${column.objective ? 'objective' : ''}`.split(/\s+/);
  const heading = widest(words, { size: EM, weight: 600 }) / EM;
  const texts = rows.map((row) => cell(row[column.key], column.digits));
  const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), '');
  const content = textWidth(longest, { size: EM, weight: 600 }) / EM;
  return Math.max(heading, column.numeric ? content : Math.min(content, LONG_TEXT));
}
