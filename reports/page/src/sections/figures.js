// Sections that the data themselves describe: a heading, what it says, a numbered list, and charts.
import { element } from '../lib/dom.js';
import { figureChart } from '../lib/figure.js';

export const figureSections = (data) =>
  (data.sections ?? []).map(({ id, heading, text, list = [], figures }) => ({
    id,
    heading,
    present: () => Boolean(text) || list.length > 0 || figures.some((figure) => figure.rows.length > 0),
    build: () => [
      text && element('p', {}, text),
      list.length > 0 && element('ol', { class: 'notes' }, list.map((item) => element('li', {}, item))),
      ...figures.filter((figure) => figure.rows.length > 0).map(figureChart),
    ],
  }));
