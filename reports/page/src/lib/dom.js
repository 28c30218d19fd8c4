// Elements are built from text nodes only: no string of the report data is ever parsed as HTML.

/** element('p', {class: 'note', onclick: f}, 'text', child, [more]): false, null and undefined children are left out. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function button(label, onclick, attributes = {}) {
  return element('button', { type: 'button', onclick, ...attributes }, label);
}

/** A button that says for a moment that it has done its work; `text` gives what is copied, or a promise of it. */
export function copyButton(text, label = 'Copy') {
  const node = button(
    label,
    async () => {
      node.textContent = (await copyText(await text())) ? 'Copied' : 'Select and copy by hand';
      setTimeout(() => {
        node.textContent = label;
      }, 1600);
    },
    { class: 'quiet' },
  );
  return node;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyThroughSelection(text);
  }
}

/** Browsers refuse the clipboard interface to some file:// pages; a selected text area still copies. */
function copyThroughSelection(text) {
  const area = element('textarea', { class: 'visually-hidden' });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  return copied;
}

export function download(name, type, content) {
  const address = content instanceof Blob ? URL.createObjectURL(content) : URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
