// What a round's time and a device's memory are made of.
import { element } from '../src/lib/dom.js';
import { isNumber, number, placeable, unique } from '../src/lib/format.js';
import { stackedBars } from './charts.js';
import { tableRegion } from '../src/lib/scroll_hint.js';

export const round = {
  id: 'round',
  heading: 'Where a round spends its time',
  present: (data) => placeable(data.round, 'time_us').length > 0,
  build(data) {
    const rows = placeable(data.round, 'time_us');
    const bars = unique(rows, 'configuration').map((name) => ({
      name,
      parts: rows.filter((row) => row.configuration === name).map((row) => ({ name: row.phase, value: row.time_us / 1e3 })),
    }));
    return [
      stackedBars({ label: 'Milliseconds of a round, part by part', bars, order: unique(rows, 'phase'), unit: 'ms' }),
      partsTable(bars),
    ];
  },
};

/** Milliseconds of each part in each configuration. */
function partsTable(bars) {
  const parts = [...new Set(bars.flatMap((bar) => bar.parts.map(({ name }) => name)))];
  const value = (bar, part) => bar.parts.find(({ name }) => name === part)?.value;
  return tableRegion(
    'Table of the parts of a round',
    element(
      'table',
      { class: 'plain-table' },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, 'ms'),
          parts.map((part) => element('th', { scope: 'col' }, part)),
        ),
      ),
      element(
        'tbody',
        {},
        bars.map((bar) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, bar.name),
            parts.map((part) => element('td', {}, number(value(bar, part)))),
          ),
        ),
      ),
    ),
  );
}

export const memory = {
  id: 'memory',
  heading: 'What memory holds',
  present: (data) => data.memory?.parts?.length > 0,
  build({ memory: { limit_gb: limit, parts, sentence } }) {
    const used = parts.reduce((sum, { gb }) => sum + gb, 0);
    const shown = [
      ...parts.map(({ part, gb }) => ({ name: part, value: gb })),
      ...(isNumber(limit) && limit > used ? [{ name: 'free', value: limit - used }] : []),
    ];
    const bars = [
      {
        name: 'a device',
        parts: shown,
        note: isNumber(limit) ? `${number(used)} of ${number(limit)} GB` : `${number(used)} GB`,
      },
    ];
    return [
      stackedBars({
        label: 'Gigabytes of a device, part by part',
        bars,
        order: shown.map(({ name }) => name),
        unit: 'GB',
        quiet: 'free',
      }),
      sentence && element('p', { class: 'reading' }, sentence),
    ];
  },
};
