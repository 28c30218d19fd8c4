// Where speculation pays, over batch and context.
import { element } from '../src/lib/dom.js';
import { number, placeable, times, unique } from '../src/lib/format.js';
import { divergingColour, inkOn } from '../src/lib/palette.js';
import { currentPalette } from '../src/lib/theme.js';
import { tableRegion } from '../src/lib/scroll_hint.js';

/** A table of coloured cells, which is its own text for those who cannot see it. */
export const heatmap = {
  id: 'where-it-pays',
  heading: 'Where speculation pays',
  present: (data) => placeable(data.heatmap?.rows, 'batch', 'context').length > 0,
  build(data) {
    const rows = placeable(data.heatmap.rows, 'batch', 'context');
    const [batches, contexts] = [unique(rows, 'batch'), unique(rows, 'context').reverse()];
    const gains = rows.filter((row) => row.fits !== false && row.speedup > 0).map((row) => row.speedup);
    const reach = Math.max(1.25, ...gains, ...gains.map((gain) => 1 / gain));
    const { diverging, faint } = currentPalette();
    const cell = (batch, context) => {
      const row = rows.find((each) => each.batch === batch && each.context === context);
      if (!row || row.fits === false)
        return element('td', { style: `background: ${faint}`, title: 'does not fit in memory' }, '–');
      const fill = divergingColour(Math.log(row.speedup) / Math.log(reach), diverging);
      const off = row.draft_tokens === 0;
      return element(
        'td',
        {
          style: `background: ${fill}; color: ${inkOn(fill) === '#ffffff' ? '#fff' : '#000'}`,
          title: `batch ${number(batch)}, context ${number(context)}: ${times(row.speedup)}`,
        },
        element('b', {}, off ? 'off' : number(row.draft_tokens)),
        !off && element('span', {}, times(row.speedup, 1)),
      );
    };
    return [
      element(
        'p',
        { class: 'reading' },
        'Blue cells gain, brown cells lose; the large number is the best draft length, – does not fit in memory.',
      ),
      tableRegion(
        'Table of speed-ups',
        element(
          'table',
          { class: 'heat' },
          element(
            'thead',
            {},
            element(
              'tr',
              {},
              element('th', { scope: 'col' }, 'Context \\ batch'),
              batches.map((batch) => element('th', { scope: 'col' }, number(batch))),
            ),
          ),
          element(
            'tbody',
            {},
            contexts.map((context) =>
              element(
                'tr',
                {},
                element('th', { scope: 'row' }, number(context)),
                batches.map((batch) => cell(batch, context)),
              ),
            ),
          ),
        ),
      ),
    ];
  },
};
