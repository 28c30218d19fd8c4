// Sections that the data themselves describe: a heading, what it says, and charts.
import { element } from '../lib/dom.js';
import { figureChart } from '../lib/figure.js';

export const figureSections = (data) =>
  (data.sections ?? []).map(({ id, heading, text, figures }) => ({
    id,
    heading,
    present: () => figures.some((figure) => figure.rows.length > 0),
    build: () => [
      text && element('p', {}, text),
      ...figures.filter((figure) => figure.rows.length > 0).map(figureChart),
    ],
  }));
