// Everything the reader has set: the question, files that it names, and pinned questions. It lies in the address, packed, so that a link or
// a bookmark is enough to come back.

const MARK = '#s=';

const packed = async (text, Stream) =>
  new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new Stream('deflate-raw'))).arrayBuffer());

const toAddress = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const fromAddress = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

export async function fragmentOf(state) {
  return MARK + toAddress(await packed(JSON.stringify(state), CompressionStream));
}

/** The state that an address holds; null where it holds none, or one that cannot be read. */
export async function stateOf(fragment) {
  if (!fragment.startsWith(MARK)) return null;
  try {
    const state = JSON.parse(
      new TextDecoder().decode(await packed(fromAddress(fragment.slice(MARK.length)), DecompressionStream)),
    );
    return state && typeof state.question === 'object' && state.question ? { files: {}, pins: [], ...state } : null;
  } catch {
    return null;
  }
}

/** Writes the state into the address a moment after its last change; the history keeps one entry. */
export function keeper() {
  let timer;
  let written = '';
  return {
    keep(state) {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        written = await fragmentOf(state);
        history.replaceState(null, '', written);
      }, 250);
    },
    isOwn: (fragment) => fragment === written,
  };
}
