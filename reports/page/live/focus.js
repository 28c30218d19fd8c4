// Parts of the page are built again while the reader is in them: the focus stays on what it was on.

const FOCUSABLE = 'input, select, button, summary, a[href], [tabindex]';

const nameOf = (node) => node.labels?.[0]?.textContent ?? node.dataset.focus ?? node.getAttribute('aria-label') ?? node.textContent;

/** Each control of a part by its name; one of several with the same name also by its place among them. */
function controls(part) {
  const seen = new Map();
  return [...part.querySelectorAll(FOCUSABLE)].map((node) => {
    const name = nameOf(node);
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return { node, key: before === 0 ? name : `${name} ${before}` };
  });
}

/**
 * Runs `build`, which fills `part` again. What had the focus in it gets it back, or, where it is gone, what stands in its place; `wanted`: the
 * name of another control that gets it.
 */
export function keepingFocus(part, build, wanted) {
  const active = document.activeElement;
  const before = part.contains(active) ? controls(part) : [];
  const at = before.findIndex(({ node }) => node === active);
  const typed = active?.selectionStart ?? null;
  const ends = typed === null ? null : [active.selectionStart, active.selectionEnd];
  build();
  if (at < 0) return;
  const after = controls(part);
  const found = after.find(({ key }) => key === (wanted ?? before[at].key)) ?? after[Math.min(at, after.length - 1)];
  found?.node.focus({ preventScroll: true });
  if (ends && found?.key === before[at].key) found.node.setSelectionRange?.(...ends);
}
