// Bytes as text: five letters for four bytes, where base64 takes five and a third. The last n bytes, fewer than four, take n + 1 letters.

/** All letters from ! to ~ but those that HTML, JavaScript, shells or a comment's end would read. */
const digits = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))
  .filter((letter) => !'"$&\'-<>\\`'.includes(letter))
  .join('');
const base = digits.length;

/** What the `i`th of four bytes counts in a word; words reach beyond the 32 bits of JavaScript's shifts. */
const place = (i) => 256 ** (3 - i);

export function textOf(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const here = Math.min(4, bytes.length - at);
    let word = 0;
    for (let i = 0; i < here; i += 1) word += bytes[at + i] * place(i);
    for (let i = 0; i <= here; i += 1) text += digits[Math.floor(word / base ** (4 - i)) % base];
  }
  return text;
}

export function bytesOf(text) {
  const values = new Uint8Array(128);
  for (let i = 0; i < base; i += 1) values[digits.charCodeAt(i)] = i;
  const bytes = new Uint8Array(Math.floor((text.length * 4) / 5));
  for (let at = 0, to = 0; at < text.length; at += 5, to += 4) {
    let word = 0;
    for (let i = at; i < at + 5; i += 1) word = word * base + (i < text.length ? values[text.charCodeAt(i)] : base - 1);
    for (let i = 0; i < 4 && to + i < bytes.length; i += 1) bytes[to + i] = Math.floor(word / place(i)) % 256;
  }
  return bytes;
}
