// Which of the two themes the page shows: the reader's system decides unless the reader does; paper is always light.
import { element } from './dom.js';
import { palettes } from './palette.js';

const systemDark = matchMedia('(prefers-color-scheme: dark)');
const onPaper = matchMedia('print');
const listeners = [];
const STORED = 'treeline-theme';
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

/** A list of the three choices; the choice outlives the page where the browser lets it. */
export function themeChoice() {
  const names = { auto: 'Auto', light: 'Light', dark: 'Dark' };
  const list = element(
    'select',
    {
      id: 'theme',
      onchange: () => {
        choose(list.value);
        remember(list.value);
        announce();
      },
    },
    Object.entries(names).map(([value, label]) => element('option', { value }, label)),
  );
  list.value = chosen ?? 'auto';
  return element('label', { class: 'choice theme' }, element('span', {}, 'Theme'), list);
}

function choose(name) {
  chosen = name in palettes ? name : null;
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
}

// Storage throws where the reader or the browser forbids it, as some do for pages opened from a file.
function remembered() {
  try {
    return localStorage.getItem(STORED) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function remember(name) {
  try {
    localStorage.setItem(STORED, name);
  } catch {
    // then the choice lasts as long as the page
  }
}

choose(remembered());
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
