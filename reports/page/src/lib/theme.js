// Which of the two themes the page shows: the reader's system decides until the reader does; paper is always light.
import { button } from './dom.js';
import { palettes } from './palette.js';

const systemDark = matchMedia('(prefers-color-scheme: dark)');
const onPaper = matchMedia('print');
const listeners = [];
let chosen = null;
let printing = false;

export function currentPalette() {
  if (printing || onPaper.matches) return palettes.light;
  return palettes[chosen ?? (systemDark.matches ? 'dark' : 'light')];
}

export function onThemeChange(listener) {
  listeners.push(listener);
}

function announce() {
  listeners.forEach((listener) => listener(currentPalette()));
}

export function themeButton() {
  const label = () => (currentPalette().name === 'dark' ? 'Light theme' : 'Dark theme');
  const node = button(
    label(),
    () => {
      chosen = currentPalette().name === 'dark' ? 'light' : 'dark';
      document.documentElement.dataset.theme = chosen;
      announce();
    },
    { class: 'quiet', id: 'theme' },
  );
  onThemeChange(() => {
    node.textContent = label();
  });
  return node;
}

systemDark.addEventListener('change', announce);
onPaper.addEventListener('change', announce);
addEventListener('beforeprint', () => {
  printing = true;
  announce();
});
addEventListener('afterprint', () => {
  printing = false;
  announce();
});
