// Requests that mean no good: node hostile.mjs <program> <source>
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { Checks, Server } from './server.mjs';

const [program, source] = process.argv.slice(2);
const checks = new Checks();
const work = mkdtempSync(join(tmpdir(), 'treeline-hostile-'));
const point = { target: 'llama-3.1-8b', platform: { device: 'h100-sxm', stack: 'vllm' }, drafter: 'eagle3', draft_tokens: 3, batch: 16 };
const server = await Server.start(program, ['--time-limit', '2', '--memory-gib', '2']);
const answers = async (words) => checks.equal((await server.ask('POST', '/v1/estimate', point)).status, 200, `it still answers after ${words}`);
const statusOf = (text) => Number(text.match(/^HTTP\/1\.1 (\d+)/)?.[1]);
const host = 'Host: localhost\r\n';
const post = (body, more = '') =>
  `POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

// Other pages, through a browser.
for (const [headers, status, words] of [
  [{ Host: 'evil.example' }, 403, 'a name that is not ours'],
  [{ Host: 'localhost.evil.example:80' }, 403, 'a name that begins like ours'],
  [{ Host: `127.0.0.1:${server.port}` }, 200, 'the address'],
  [{ Host: '[::1]:80' }, 200, 'an address in brackets'],
  [{ Host: 'LOCALHOST' }, 200, 'localhost in capitals'],
  [{ Origin: 'http://evil.example' }, 403, 'a page of another site'],
  [{ Origin: 'null' }, 403, 'a page of nowhere'],
  [{ Origin: 'http://127.0.0.2:80' }, 403, 'a page of another address'],
  [{ Origin: `http://localhost:${server.port}`, Host: `localhost:${server.port}` }, 200, 'our own page'],
  [{ 'Content-Type': 'text/plain' }, 415, 'a type that pages send without asking'],
  [{ 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'a form'],
  [{ 'Content-Type': 'multipart/form-data; boundary=x' }, 415, 'a form with files'],
  [{ 'Content-Type': 'application/json; charset=utf-8' }, 200, 'JSON with its charset'],
]) {
  const answer = await server.ask('POST', '/v1/estimate', point, headers);
  checks.equal(answer.status, status, words);
  if (status !== 200) checks.equal(answer.json?.problems?.length, 1, `${words}: one sentence`);
}

checks.equal(statusOf(await server.send('GET /healthz HTTP/1.1\r\n\r\n')), 400, 'no name');
checks.equal(statusOf(await server.send(`GET /healthz HTTP/1.1\r\n${host}${host}\r\n`)), 400, 'two names');

// Malformed.
for (const [bytes, statuses, words] of [
  ['NONSENSE\r\n\r\n', [400], 'no HTTP'],
  ['\0\x01\x02\x03\r\n\r\n', [400], 'bytes'],
  [`GET / HTTP/9.9\r\n${host}\r\n`, [400], 'another version'],
  [`BREW / HTTP/1.1\r\n${host}\r\n`, [400], 'another method'],
  [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, [400, 414], 'a long address'],
  [`GET /healthz HTTP/1.1\r\n${host}${'X: y\r\n'.repeat(300_000)}\r\n`, [400, 413], 'many headers'],
  [`GET /healthz HTTP/1.1\r\n${host}X: ${'y'.repeat(3_000_000)}\r\n\r\n`, [400, 413], 'a long header'],
  [`GET /healthz HTTP/1.1\r\n${host}Range: bytes=${'0-,'.repeat(2_000)}0-\r\nConnection: close\r\n\r\n`, [200, 400, 416], 'many ranges'],
  [`GET /healthz HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nGET /`, [400], 'a body where none belongs'],
  [`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n{}`, [400, 413], 'a length beyond all numbers'],
  [`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}`, [400], 'two lengths'],
  [`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 2, 40\r\n\r\n{}`, [400], 'two lengths in one'],
  [`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: -1\r\n\r\n{}`, [400, 413], 'a length below zero'],
  [`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`, [400], 'broken chunks'],
  [`PUT /v1/recommend HTTP/1.1\r\n${host}\r\n`, [405], 'another method without a body'],
  [`PATCH /v1/none HTTP/1.1\r\n${host}\r\n`, [404], 'another path without a body'],
  [`POST /v1/models HTTP/1.1\r\n${host}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`, [405], 'a question to a look-up, whatever its type'],
  [`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\n\r\n`, [411], 'a question without a length'],
]) {
  const received = await server.send(bytes);
  checks.that(statuses.includes(statusOf(received)), `${words}: ${received.slice(0, 100)}`);
}
await answers('malformed requests');

// Huge.
const large = ' '.repeat((1 << 20) + 1);
checks.equal((await server.ask('POST', '/v1/estimate', large)).status, 413, 'a body above the limit');
const chunks = Array.from({ length: 48 }, () => `10000\r\n${' '.repeat(65_536)}\r\n`).join('');
const chunked = await server.send(
  `POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
);
checks.equal(statusOf(chunked), 413, 'the same in chunks');
const bomb = gzipSync(Buffer.alloc(64 << 20, ' '));
checks.equal(
  (await server.ask('POST', '/v1/estimate', bomb.toString('latin1'), { 'Content-Encoding': 'gzip' })).status,
  415,
  'a compressed body',
);
await answers('huge bodies');

// Deep, and questions without end.
const deep = '['.repeat(200_000) + ']'.repeat(200_000);
checks.equal((await server.ask('POST', '/v1/estimate', deep)).status, 400, 'deep JSON');
checks.equal((await server.ask('POST', '/v1/estimate', `{"a":`.repeat(100_000) + '1' + '}'.repeat(100_000))).status, 400, 'deep objects');
checks.equal((await server.ask('POST', '/v1/recommend', '{"target": "\xff"}')).status, 422, 'a name of odd letters');
checks.equal((await server.ask('POST', '/v1/recommend', 'null')).status, 422, 'null');
checks.equal((await server.ask('POST', '/v1/recommend', '{"target": "llama-3.1-8b", "target": "x"}')).status, 422, 'a key twice');
const began = Date.now();
const endless = {
  target: 'deepseek-v3',
  platforms: ['h100-sxm', 'h200', 'b200', 'mi300x', 'a100-sxm-80', 'l40s'].flatMap((device) => [
    { device, stack: 'vllm', gpus: { up_to: 512 } },
    { device, stack: 'sglang', gpus: { up_to: 512 } },
  ]),
  draft_tokens: { from: 1, to: 1024 },
  traffic: { concurrency: { from: 1, to: 1000 }, context: { from: 1000, to: 100000, step: 100 } },
  prompt_tokens: { mean: 1000, spread: 2 },
  output_tokens: { mean: 1000, spread: 2 },
};
const refused = await server.ask('POST', '/v1/recommend', endless);
const seconds = (Date.now() - began) / 1000;
checks.that(refused.status === 422 || refused.status === 503, `a question without end: ${refused.status} ${refused.text.slice(0, 200)}`);
checks.that(seconds < 20, `a question without end took ${seconds} s`);
await answers('questions without end');

// Slow: a byte at a time, on every connection that there is.
const slow = await Server.start(program);
const drips = Array.from({ length: 70 }, () => slow.send(`GET /healthz HTTP/1.1\r\n${host}${'X: y\r\n'.repeat(100)}\r\n`, { every: 400, wait: 60_000 }));
const half = slow.send(`POST /v1/estimate HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`, { wait: 60_000 });
const began_slow = Date.now();
const received = await Promise.all([...drips.slice(0, 40), half]);
// 10 s of patience, twice where connections wait for others; the rest is for a machine in use.
checks.that(Date.now() - began_slow < 45_000, `slow requests were kept for ${(Date.now() - began_slow) / 1000} s`);
checks.that(received.every((text) => text === '' || statusOf(text) === 408 || statusOf(text) === 400), 'slow requests end');
const after = await slow.ask('GET', '/healthz');
checks.equal(after.status, 200, 'it answers after slow requests');
await slow.stop();

// A token.
const token = join(work, 'token');
writeFileSync(token, 'correct-horse-battery\n');
const guarded = await Server.start(program, ['--listen', '0.0.0.0', '--token-file', token, '--host-name', 'planner.example']);
for (const [headers, status, words] of [
  [{}, 401, 'no token'],
  [{ Authorization: 'Bearer correct-horse-batterx' }, 401, 'a wrong token'],
  [{ Authorization: 'Bearer ' }, 401, 'an empty token'],
  [{ Authorization: 'Basic correct-horse-battery' }, 401, 'another scheme'],
  [{ Authorization: 'Bearer correct-horse-battery' }, 200, 'the token'],
  [{ Authorization: 'Bearer correct-horse-battery', Host: 'planner.example' }, 200, 'a name that was told'],
  [{ Authorization: 'Bearer correct-horse-battery', Host: 'other.example' }, 403, 'one that was not'],
]) {
  checks.equal((await guarded.ask('POST', '/v1/estimate', point, headers)).status, status, words);
}
checks.equal((await guarded.ask('GET', '/v1/models')).status, 401, 'look-ups need the token');
checks.equal((await guarded.ask('GET', '/v1/openapi.json')).status, 200, 'the description does not');

// SIGTERM: what is being answered is sent, and the port is free.
const workload = { target: 'qwen3-32b', platforms: [{ device: 'h100-sxm', engine: 'vllm', gpus: { up_to: 8 } }], traffic: { concurrency: { powers_of_two: { from: 1, to: 512 } } }, prompt_tokens: 2000, output_tokens: 500 };
const inFlight = guarded.ask('POST', '/v1/recommend', workload, { Authorization: 'Bearer correct-horse-battery' });
await new Promise((resolve) => setTimeout(resolve, 100));
const ended = guarded.stop();
checks.equal((await inFlight).status, 200, 'an answer in the making is sent');
checks.equal(await ended, 0, 'and then it ends');

// What it does not begin with.
for (const [flags, words] of [
  [['--listen', '0.0.0.0'], 'token-file'],
  [['--port', '70000'], '--port'],
  [['--listen', '203.0.113.1', '--token-file', token], 'cannot be had'],
  [['--port', String(server.port)], 'cannot be had'],
  [['--token-file', '/dev/null'], 'at least 16 characters'],
]) {
  const done = spawnSync(program, ['serve', ...flags], { encoding: 'utf8', timeout: 10_000 });
  checks.that(done.status === 2 && done.stderr.includes(words), `serve ${flags.join(' ')}: ${done.status} ${done.stderr}`);
}
checks.equal(await server.stop('SIGINT'), 0, 'Ctrl-C ends it');
rmSync(work, { recursive: true });
checks.finish();
