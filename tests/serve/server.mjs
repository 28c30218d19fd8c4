// A server of ours for a test, at a port that is free.
import { spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';

export class Server {
  static async start(program, flags = [], environment = {}) {
    const process_ = spawn(program, ['serve', '--port', '0', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    const said = { out: '', error: '' };
    process_.stderr.on('data', (data) => (said.error += data));
    const port = await new Promise((resolve, reject) => {
      process_.stdout.on('data', (data) => {
        said.out += data;
        const found = said.out.match(/http:\/\/[^ ]*:(\d+)\//);
        if (found) resolve(Number(found[1]));
      });
      process_.on('exit', () => reject(new Error(`treeline serve ended: ${said.error}`)));
    });
    return Object.assign(new Server(), { process: process_, port, said });
  }

  /** {status, headers, text, json} of one request; `headers` may replace Host. */
  ask(method, path, body, headers = {}) {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const given = text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port: this.port, method, path, headers: { ...given, ...headers }, agent: false },
        (response) => {
          let received = '';
          response.setEncoding('utf8');
          response.on('data', (part) => (received += part));
          response.on('end', () => resolve(answerOf(response, received)));
        },
      );
      request.on('error', reject);
      if (text !== undefined) request.write(text);
      request.end();
    });
  }

  /** What comes back for these bytes, until the server closes. */
  send(bytes, { wait = 20_000, every = 0 } = {}) {
    return new Promise((resolve) => {
      const socket = net.connect(this.port, '127.0.0.1');
      let received = '';
      const end = () => {
        clearTimeout(timer);
        socket.destroy();
        resolve(received);
      };
      const timer = setTimeout(end, wait);
      socket.on('data', (data) => (received += data));
      socket.on('close', end);
      socket.on('error', () => {});
      if (every === 0) socket.write(bytes);
      else drip(socket, bytes, every);
    });
  }

  /** Its exit code after a signal. */
  stop(signal = 'SIGTERM') {
    return new Promise((resolve) => {
      this.process.on('exit', (code, by) => resolve(code ?? by));
      this.process.kill(signal);
    });
  }
}

async function drip(socket, bytes, every) {
  for (const byte of bytes) {
    if (socket.destroyed) return;
    socket.write(byte);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

function answerOf(response, text) {
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.statusCode, headers: response.headers, text, json };
}

/** Counts what was checked, and says what failed. */
export class Checks {
  count = 0;
  failures = 0;

  that(condition, words) {
    this.count += 1;
    if (!condition) {
      this.failures += 1;
      console.log(`FAILED: ${words}`);
    }
  }

  equal(got, wanted, words) {
    this.that(JSON.stringify(got) === JSON.stringify(wanted), `${words}: ${JSON.stringify(got)?.slice(0, 300)} instead of ${JSON.stringify(wanted)?.slice(0, 300)}`);
  }

  finish() {
    console.log(`${this.count} checks, ${this.failures} failures`);
    process.exitCode = this.failures === 0 && this.count > 0 ? 0 : 1;
  }
}
