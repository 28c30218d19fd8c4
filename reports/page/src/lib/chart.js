// A chart of the report: a <figure> that holds title, reading aid, controls, plot, legend and the same numbers as a table.
//
// A section describes its chart with plain values:
//   title, reading   heading and one sentence that says how to read it
//   alternative      what the chart shows, in words, for those who cannot see it
//   columns, rows    the data behind it (see table.js)
//   choices          [{key, label, options: [{value, label}], value}]: drop-down lists above the plot
//   legend           (palette, state) => [{value, label, colour, shape}]: a list of series that readers can switch off
//   scale            (palette) => element: a colour scale in place of a legend
//   zoom             {x: field, y: field}: drag to move, Shift and wheel or the buttons to zoom (the specification holds zoomParameter)
//   onmark           (row) => …: a mark was clicked
//   specification    ({palette, width, inner, state, shown}) => Vega-Lite: `shown(value)` says whether a series is switched on; `inner` is
//                    the width between the axes, which depends on the fonts. A specification that uses it sets `measured` next to itself.
//
// Every chart is drawn again, synchronously, when its box changes its width, the theme changes or the page is printed.
import { button, download, element } from './dom.js';
import { draw, zoomBy, resetZoom, toSvg, toPng } from './vega.js';
import { currentPalette, onThemeChange } from './theme.js';
import { dataTable } from './table.js';

export function chart(options) {
  const state = Object.fromEntries((options.choices ?? []).map((choice) => [choice.key, choice.value]));
  const hidden = new Set();
  // Vega writes its own role and label onto the element it draws into, so the words for those who cannot see it are on the one around it.
  const canvas = element('div');
  const plot = element('div', { class: 'plot', role: 'img', 'aria-label': options.alternative }, canvas);
  const legend = element('div', { class: 'legend' });
  let view = null;
  let drawnWidth = 0;
  let margin = 70; // pixels of the axes; what the last drawing needed

  function redraw() {
    const width = Math.floor(plot.clientWidth);
    if (width === 0) return;
    drawnWidth = width;
    const palette = currentPalette();
    legend.replaceChildren(...legendItems(palette));
    for (let pass = 0; pass < (options.measured ? 3 : 1); pass += 1) {
      const inner = Math.max(40, width - margin);
      view?.finalize();
      view = draw(canvas, options.specification({ palette, width, inner, state, shown: (value) => !hidden.has(value) }), palette, width);
      margin = width - view.width();
      if (Math.abs(width - margin - inner) < 1) break;
    }
    if (options.onmark) view.addEventListener('click', (_, item) => item?.datum && options.onmark(item.datum));
  }

  function legendItems(palette) {
    if (options.scale) return [options.scale(palette)];
    const items = options.legend?.(palette, state) ?? [];
    return items.map((item) => legendButton(item, hidden, items.length, redraw));
  }

  const figure = element(
    'figure',
    { class: 'chart', id: options.id },
    element('figcaption', {}, element('h3', {}, options.title), element('p', { class: 'reading' }, options.reading)),
    choiceLists(options, state, redraw),
    element('div', { class: 'controls' }, legend, options.zoom && zoomButtons(options, () => view)),
    plot,
    footer(options, () => view),
  );
  onThemeChange(redraw);
  new ResizeObserver(() => {
    if (Math.abs(plot.clientWidth - drawnWidth) >= 1) redraw();
  }).observe(plot);
  return figure;
}

/** One series of the legend. The last visible one cannot be switched off. */
function legendButton({ value, label, colour, shape = 'square' }, hidden, count, redraw) {
  const swatch = element('span', { class: `swatch ${shape}`, style: `--swatch: ${colour}`, 'aria-hidden': 'true' });
  if (value === undefined || count === 1) return element('span', { class: 'series' }, swatch, label);
  const toggle = () => {
    if (!hidden.delete(value) && hidden.size < count - 1) hidden.add(value);
    redraw();
  };
  return element(
    'button',
    { type: 'button', class: 'series', 'aria-pressed': String(!hidden.has(value)), title: 'Show or hide', onclick: toggle },
    swatch,
    label,
  );
}

function choiceLists(options, state, redraw) {
  const lists = (options.choices ?? [])
    .filter((choice) => choice.options.length > 1)
    .map((choice) => {
      const list = element(
        'select',
        {
          onchange: () => {
            state[choice.key] = choice.options[list.selectedIndex].value;
            redraw();
          },
        },
        choice.options.map(({ value, label }) => element('option', { selected: value === choice.value }, label)),
      );
      return element('label', { class: 'choice' }, element('span', {}, choice.label), list);
    });
  return lists.length > 0 && element('div', { class: 'controls' }, lists);
}

function zoomButtons(options, view) {
  return element(
    'div',
    { class: 'zoom', role: 'group', 'aria-label': 'Zoom' },
    button('+', () => zoomBy(view(), options.zoom, 1 / 1.5), { 'aria-label': `Zoom in: ${options.title}` }),
    button('−', () => zoomBy(view(), options.zoom, 1.5), { 'aria-label': `Zoom out: ${options.title}` }),
    button('Reset', () => resetZoom(view(), options.zoom), { 'aria-label': `Reset zoom: ${options.title}` }),
  );
}

function footer(options, view) {
  const details = element('details', { class: 'numbers' }, element('summary', {}, 'The numbers'));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(dataTable({ ...options, name: options.id, small: true }));
  });
  return element(
    'div',
    { class: 'chart-footer' },
    details,
    element(
      'div',
      { class: 'save' },
      'Save as',
      button('SVG', async () => download(`${options.id}.svg`, 'image/svg+xml', await toSvg(view())), {
        'aria-label': `Save ${options.title} as SVG`,
        class: 'quiet',
      }),
      button('PNG', async () => download(`${options.id}.png`, 'image/png', await toPng(view())), {
        'aria-label': `Save ${options.title} as PNG`,
        class: 'quiet',
      }),
    ),
  );
}
