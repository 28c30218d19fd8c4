// The library as a native process (answer_questions.cpp), in place of the module.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class Native {
  #process;
  #waiting = [];

  constructor(program, folder) {
    this.#process = spawn(program, [folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#waiting.shift()(JSON.parse(line)));
  }

  /** The answer to a question, both as JSON texts. */
  ask(kind, question) {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#process.stdin.write(`${JSON.stringify({ kind, question })}\n`);
    });
  }

  close() {
    this.#process.stdin.end();
  }
}
