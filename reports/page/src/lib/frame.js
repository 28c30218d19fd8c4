// What surrounds the sections: header, contents, footer.
import { element } from './dom.js';
import { themeChoice } from './theme.js';

export function pageHeader(data) {
  return element(
    'header',
    { class: 'page-header' },
    element('div', { class: 'overline' }, element('span', {}, 'Treeline report'), themeChoice()),
    element('h1', {}, data.title),
    data.subtitle && element('p', { class: 'subtitle' }, data.subtitle),
  );
}

/** The list of sections: open beside the text where there is room, folded above it where there is not. */
export function contents(sections) {
  const details = element(
    'details',
    { class: 'contents' },
    element('summary', {}, 'Contents'),
    element(
      'nav',
      { 'aria-label': 'Contents' },
      element(
        'ol',
        {},
        sections.map((section) => element('li', {}, element('a', { href: `#${section.id}` }, section.heading))),
      ),
    ),
  );
  const wide = matchMedia('(min-width: 1180px)');
  const unfold = () => {
    details.open = wide.matches;
  };
  wide.addEventListener('change', unfold);
  unfold();
  return details;
}

export function pageFooter(data) {
  const licences = document.getElementById('licences').textContent;
  return element(
    'footer',
    {},
    element(
      'p',
      {},
      `Made by ${data.generator ?? 'treeline'}. This file contains everything it shows and needs no network.`,
    ),
    licencesFold(licences),
  );
}

/** Licences, in a box that the keyboard scrolls. */
export function licencesFold(text) {
  const heading = 'Open-source software inside this page';
  const box = element('pre', { tabindex: 0, role: 'region', 'aria-label': heading }, text);
  return element('details', {}, element('summary', {}, heading), box);
}
