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

/** The state that an address holds, {state}; null where it holds none; {problem} where it was cut or spoilt on its way. */
export async function stateOf(fragment) {
  if (!fragment.startsWith(MARK)) return null;
  const problem =
    'The link is cut or damaged: its question cannot be read, so the page shows the one that it was written with. Ask for the link again.';
  try {
    const state = JSON.parse(
      new TextDecoder().decode(await packed(fromAddress(fragment.slice(MARK.length)), DecompressionStream)),
    );
    return state?.question?.platforms ? { state: { files: {}, pins: [], ...state } } : { problem };
  } catch {
    return { problem };
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
