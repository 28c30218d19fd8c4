// Shows that a box holds more than it shows: a shade at the edge behind which more columns lie, and words.
import { element } from './dom.js';

export function scrollHint(scroller) {
  const words = element('p', { class: 'scroll-words', 'aria-hidden': 'true', hidden: true }, 'More columns to the right: scroll sideways \u2192');
  const frame = element('div', { class: 'scroll-frame' }, scroller);
  const look = () => {
    const hidden = scroller.scrollWidth - scroller.clientWidth;
    words.hidden = hidden < 2;
    frame.classList.toggle('more-right', scroller.scrollLeft < hidden - 1);
  };
  scroller.addEventListener('scroll', look, { passive: true });
  new ResizeObserver(look).observe(scroller);
  new ResizeObserver(look).observe(scroller.firstElementChild);
  return element('div', {}, words, frame);
}

/** A table that may be wider than the page, in a box of its own that is scrolled by mouse, finger and keyboard. */
export function tableRegion(label, table) {
  return scrollHint(element('div', { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': label }, table));
}
