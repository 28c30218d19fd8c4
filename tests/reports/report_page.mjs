// A report opened in the browser, with everything that goes wrong written down.
import { pathToFileURL } from 'node:url';
import { openTab } from './chromium.mjs';

/** Opens `file`, in which the function `before` runs first; `complaints` collects console warnings and errors, uncaught errors, dialogs and requests other than the file itself. */
export async function openReport(browser, file, { width = 1280, height = 900, dark = false, before } = {}) {
  const { page, close } = await openTab(browser, { width, height, scheme: dark ? 'dark' : 'light' });
  page.setDefaultTimeout(120_000); // tests run side by side, and a machine may be busy with others
  if (before) await page.addInitScript(before);
  const address = pathToFileURL(file).href;
  const complaints = [];
  // Before Chromium 156 its inspector, asked for the fonts of a node, reads the page again and says so of itself.
  const ofInspector = `Unsafe attempt to load URL ${address} from frame with URL ${address}.`;
  page.on('console', (message) => {
    if (['warning', 'error', 'assert'].includes(message.type()) && !message.text().startsWith(ofInspector))
      complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url() !== address && !/^(data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector('html[data-ready]');
  await page.waitForFunction(() =>
    [...document.querySelectorAll('figure.chart .plot')].every((plot) => plot.querySelector('svg')),
  );
  return { page, complaints, close };
}

/**
 * For each chart: its id, how many visible marks of each kind it has, the marks and numbers that reach out of its picture or its box, and the
 * numbers of an axis that lie on one another.
 */
export function readCharts(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll('figure.chart')].map((figure) => {
      const svg = figure.querySelector('.plot svg');
      const frame = svg.getBoundingClientRect();
      const box = figure.getBoundingClientRect();
      const counts = {};
      const outside = [];
      const visible = (text) => text.textContent !== '' && Number(getComputedStyle(text).opacity) > 0;
      const touching = [...svg.querySelectorAll('g.role-axis-label')].flatMap((axis) => {
        const labels = [...axis.querySelectorAll('text')].filter(visible).map((text) => [text, text.getBoundingClientRect()]);
        return labels.flatMap(([one, a], i) =>
          labels
            .slice(i + 1)
            .filter(([, b]) => a.right > b.left && b.right > a.left && a.bottom - 3 > b.top && b.bottom - 3 > a.top)
            .map(([other]) => `${one.textContent} | ${other.textContent}`),
        );
      });
      const axes = [...svg.querySelectorAll('g.role-axis-label > text, g.role-axis-title > text')].filter(visible);
      for (const mark of [...svg.querySelectorAll('g.role-mark > path, g.role-mark > line, g.role-mark > text'), ...axes]) {
        const kind = mark.parentElement.getAttribute('class').match(/mark-(\w+)/)[1];
        const place = mark.getBoundingClientRect();
        if (place.width === 0 && place.height === 0) continue;
        if (!axes.includes(mark)) counts[kind] = (counts[kind] ?? 0) + 1;
        const slack = 1.5;
        if (
          place.left < frame.left - slack ||
          place.right > frame.right + slack ||
          place.top < frame.top - slack ||
          place.bottom > frame.bottom + slack
        ) {
          outside.push(`${kind} ${mark.textContent.slice(0, 40)}`);
        }
      }
      return {
        id: figure.id,
        counts,
        outside,
        touching,
        wide:
          Number(svg.getAttribute('width')) > figure.querySelector('.plot').clientWidth + 0.5 ||
          frame.right > box.right + 0.5 ||
          frame.left < box.left - 0.5,
        alternative: figure.querySelector('.plot').getAttribute('aria-label'),
      };
    }),
  );
}

/** Smallest contrast ratio (WCAG 2) of visible text against what is painted behind it, with the text that has it. */
export function worstContrast(page) {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return { channels: [r, g, b], opaque: a > 250 };
    };
    const luminance = (channels) =>
      channels
        .map((v) => v / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const colour = rgba(getComputedStyle(at).backgroundColor);
        if (colour.opaque) return colour.channels;
      }
      return [255, 255, 255];
    };
    let worst = { ratio: 99, text: '' };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      if (!text || !node.checkVisibility() || node.closest('script, style, g.role-mark, option')) continue;
      const style = getComputedStyle(node);
      const ink = rgba(node.closest('svg') ? style.fill : style.color).channels;
      const [a, b] = [luminance(ink), luminance(behind(node))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < worst.ratio) worst = { ratio, text: text.slice(0, 60) };
    }
    return worst;
  });
}
