// Questions to the library. It runs in a worker, so that the page never waits for it; a worker made of the page's own text works from a file,
// too. While one question of a kind is being answered only the newest one that follows is kept.

/** Why this browser cannot run the library; empty where it can. */
export function missing() {
  if (STAND_IN) return '';
  const lacking = ['WebAssembly', 'Worker', 'DecompressionStream'].filter((name) => !(name in globalThis));
  return lacking.length > 0 ? `This browser has no ${lacking.join(' and no ')}` : '';
}

export class Library {
  #worker;
  #open = new Map();
  #next = 0;
  #latest = new Map();
  #restarted;

  /** `failed` is told why the library could not be started; `restarted` is called where it was started anew after a question that it broke off
   *  at, and hands it what the page had handed over. */
  constructor(failed, restarted) {
    this.#restarted = restarted;
    if (STAND_IN) return;
    const text = (id) => document.getElementById(id).textContent;
    this.#worker = new Worker(URL.createObjectURL(new Blob([text('worker')], { type: 'text/javascript' })));
    this.#worker.onmessage = ({ data }) => {
      if (data.failed) failed(data.failed);
      else if (data.ready) document.documentElement.dataset.started = Math.round(data.ready);
      else this.#settle(data);
    };
    this.#worker.onerror = ({ message }) => failed(message);
    this.#worker.postMessage({ glue: text('glue'), module: text('module') });
  }

  async #settle({ id, answer, trap, ms }) {
    const resolve = this.#open.get(id);
    this.#open.delete(id);
    if (trap) await this.#restarted();
    resolve({ answer, ms });
  }

  /** The answer as text, and the milliseconds that it took. */
  ask(kind, question) {
    const text = JSON.stringify(question);
    if (STAND_IN) {
      const began = performance.now();
      return globalThis.treelineStandIn(kind, text).then((answer) => ({ answer, ms: performance.now() - began }));
    }
    return new Promise((resolve) => {
      const id = this.#next++;
      this.#open.set(id, resolve);
      this.#worker.postMessage({ id, kind, question: text });
    });
  }

  /** `show` gets the parsed answer; of questions that come while another is open, the newest alone is asked. */
  async askLatest(kind, question, show) {
    const known = this.#latest.get(kind);
    if (known) {
      known.pending = { question, show };
      return;
    }
    const slot = { pending: { question, show } };
    this.#latest.set(kind, slot);
    while (slot.pending) {
      const { question: asked, show: shown } = slot.pending;
      slot.pending = null;
      const { answer, ms } = await this.ask(kind, asked);
      shown(JSON.parse(answer), ms, slot.pending !== null);
    }
    this.#latest.delete(kind);
  }
}
