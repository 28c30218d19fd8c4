// Asks Emscripten's library one question after another, and starts it anew where it broke off: after a trap its memory holds half of an
// answer, so that whatever is asked next would fail, too.

/** The answer to a question, both texts. The question goes through the heap: `ccall` would put it on the stack, which 1 MB fills. */
export function answerOf(library, kind, question) {
  const bytes = new TextEncoder().encode(question);
  const at = library._malloc(bytes.length + 1);
  if (at === 0) throw new RangeError(`a question of ${bytes.length} bytes is larger than its memory`);
  const memory = new Uint8Array(library.asm.memory.buffer);
  memory.set(bytes, at);
  memory[at + bytes.length] = 0;
  try {
    return library.ccall('treeline_answer', 'string', ['string', 'number'], [kind, at]);
  } finally {
    library._free(at);
  }
}

export class Answerer {
  #load;
  #library;

  /** `load` starts a library of its own at each call. */
  constructor(load) {
    this.#load = load;
  }

  async start() {
    this.#library = await this.#load();
  }

  /** {answer}, or {trap: why, answer: {failure}} of a question that the library broke off at: the next one is asked of a new library, which
   *  has none of the files that were handed over. */
  async ask(kind, question) {
    try {
      return { answer: answerOf(this.#library, kind, question) };
    } catch (error) {
      await this.start();
      return {
        trap: String(error),
        answer: JSON.stringify({ failure: `The library inside this page broke off (${error}) and was started anew.` }),
      };
    }
  }
}
