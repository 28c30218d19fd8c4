// What the box above a table looks for. Every word must be found in some cell of a row, every phrase in quotes in one cell. A number means
// itself, so 2 is found in "chain 2" and not in "chain 20" or "3.2"; and it belongs to the word before it if the table has the two together.

const NUMBER = /^\d[\d.,]*$/;
const plain = (text) => text.toLowerCase().replace(/(\d),(?=\d{3}(?!\d))/g, '$1'); // 1,024 and 1024 are the same

function patternOf(words) {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[ \u00a0]+');
  const begin = /^\d/.test(words[0]) ? '(?<!\\d|\\d[.,])' : '';
  const end = /\d$/.test(words.at(-1)) ? '(?!\\d|[.,]\\d)' : '';
  return new RegExp(begin + escaped + end);
}

/** Turns what was typed into a test of one row's text (cells in lines of their own); `texts` are those of all rows. */
export function rowTest(typed, texts) {
  const known = texts.map(plain);
  const terms = [];
  for (const [, phrase, word] of plain(typed).matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const words = (phrase ?? word).split(/\s+/).filter(Boolean);
    if (words.length === 0) continue;
    const before = terms.at(-1);
    const together = word && NUMBER.test(word) && before?.free && patternOf([...before.words, word]);
    if (together && known.some((text) => together.test(text))) terms[terms.length - 1] = { words: [...before.words, word], free: false };
    else terms.push({ words, free: Boolean(word) });
  }
  const patterns = terms.map((term) => patternOf(term.words));
  return (text) => patterns.every((pattern) => pattern.test(plain(text)));
}
