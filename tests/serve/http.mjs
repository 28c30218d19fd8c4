// What the server answers over HTTP: node http.mjs <program> <source>
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Checks, Server } from './server.mjs';

const [program, source] = process.argv.slice(2);
const checks = new Checks();
const run = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
const read = (path) => readFileSync(join(source, path), 'utf8');
const work = mkdtempSync(join(tmpdir(), 'treeline-serve-'));
const server = await Server.start(program);

const workload = JSON.parse(read('examples/llama-3.1-8b-h100.json'));
const point = { target: 'llama-3.1-8b', platform: { device: 'h100-sxm', stack: 'vllm' }, drafter: 'eagle3', draft_tokens: 3, batch: 16 };

// The bytes of the program.
const file = (name, content) => {
  writeFileSync(join(work, name), typeof content === 'string' ? content : JSON.stringify(content));
  return join(work, name);
};
for (const [path, question, command] of [
  ['/v1/recommend', workload, 'recommend'],
  ['/v1/estimate', point, 'estimate'],
]) {
  const { status, text, headers } = await server.ask('POST', path, question);
  checks.equal(status, 200, path);
  checks.equal(text, run(command, file('question.json', question), '--format', 'json'), `${path} and the program's bytes`);
  checks.equal(headers['content-type'], 'application/json', `${path}: type`);
}

const diagnosis = { run: JSON.parse(read('examples/runs/vllm-16035.json')), point: JSON.parse(read('examples/runs/vllm-16035-point.json')) };
const diagnosed = await server.ask('POST', '/v1/diagnose', diagnosis);
checks.equal(
  diagnosed.text,
  run('diagnose', join(source, 'examples/runs/vllm-16035.json'), '--input', join(source, 'examples/runs/vllm-16035-point.json'), '--format', 'json'),
  'a diagnosis and the program\'s bytes',
);
const flags = '--spec-type ngram-simple --spec-draft-n-max 8';
const linted = await server.ask('POST', '/v1/lint', { text: flags });
let printed = '';
try {
  printed = run('lint', file('flags', flags), '--format', 'json');
} catch (error) {
  printed = error.stdout; // exit code 1: findings
}
checks.equal(linted.text, printed, 'findings and the program\'s bytes');
checks.that(linted.json.findings.length > 0, 'the flags have findings');

// What others wrote moves no cursor where an answer is shown.
const hostile = await server.ask('POST', '/v1/estimate', { ...point, target: 'x\u009b1m\u202ey' });
checks.that(hostile.text.includes('\\u202e') && !/[\u0080-\u009f\u202a-\u202e]/.test(hostile.text), 'control characters are escaped');

// Look-ups.
const models = await server.ask('GET', '/v1/models');
checks.equal(models.text, run('models', '--format', 'json'), 'models and the program\'s bytes');
checks.equal((await server.ask('GET', '/v1/models?name=llama-3.1-8b')).text, run('models', 'llama-3.1-8b', '--format', 'json'), 'one model');
checks.that((await server.ask('GET', '/v1/devices')).json.devices.some(({ name }) => name === 'h100-sxm'), 'devices list the H100');
checks.that((await server.ask('GET', '/v1/devices')).json.boards.some(({ name }) => name === 'vck190'), 'devices list FPGA boards');
checks.that((await server.ask('GET', '/v1/devices?name=specmamba-vck190')).json.board === 'vck190', 'one design');
checks.that(!(await server.ask('GET', '/v1/devices?name=h1000')).text.includes('path'), 'a refusal advises no file');
checks.equal((await server.ask('GET', '/v1/devices?name=h100-sxm')).text, run('hardware', 'h100-sxm', '--format', 'json'), 'one device');
checks.equal((await server.ask('GET', '/v1/models?name=lama-3.1-8b')).status, 422, 'an unknown model');
checks.equal((await server.ask('GET', '/v1/models?nome=llama-3.1-8b')).status, 422, 'an unknown parameter');
checks.equal((await server.ask('GET', '/healthz')).json, { status: 'ok' }, 'health');

// What was asked wrongly.
const wrong = await server.ask('POST', '/v1/recommend', { ...workload, target: 'llama-3.1-9b', objektive: 'latency' });
checks.equal(wrong.status, 422, 'an impossible question');
checks.equal(wrong.json.problems.length, 2, 'with a sentence for each problem');
checks.equal((await server.ask('POST', '/v1/recommend', '{"target": ')).status, 400, 'what is not JSON');
checks.equal((await server.ask('POST', '/v1/recommend', '')).status, 400, 'an empty body');
const elsewhere = await server.ask('GET', '/v2/recommend');
checks.equal([elsewhere.status, elsewhere.json.problems.length], [404, 1], 'another path');
const method = await server.ask('GET', '/v1/recommend');
checks.equal([method.status, method.headers.allow], [405, 'POST'], 'another method');
checks.equal((await server.ask('POST', '/healthz', {})).headers.allow, 'GET, HEAD', 'a question to a page');
checks.equal((await server.ask('DELETE', '/v1/recommend')).status, 405, 'a method that nothing has');

// Files of the server's machine are not read.
const secret = file('secret.json', { target: 'secret' });
for (const question of [
  { ...point, target: secret },
  { ...point, target: '../../etc/passwd' },
  { ...point, target: ':builtin:/models/llama-3.1-8b.json' },
  { ...point, platform: { device: secret } },
  { ...point, drafter: { kind: 'eagle3', acceptance: { file: 'acceptance.csv' } } },
  { ...point, drafter: { kind: 'eagle3', acceptance: { published: secret } } },
  { ...point, drafter: secret },
  { ...point, shape: secret, draft_tokens: undefined },
]) {
  const { status, json } = await server.ask('POST', '/v1/estimate', question);
  checks.that(status === 422 && json.problems.some((problem) => problem.includes('none is read here')), `${JSON.stringify(question)}: ${status} ${JSON.stringify(json)?.slice(0, 200)}`);
}
checks.that(!JSON.stringify(await server.ask('GET', `/v1/models?name=${encodeURIComponent(secret)}`)).includes('"layers"'), 'no file by name');
const tree = { ...point, platform: { device: 'h100-sxm' }, drafter: { kind: 'eagle3', acceptance: { rate: 0.7, per_rank: [0.6, 0.2] } }, shape: 'children:2/1,1', draft_tokens: undefined };
checks.equal((await server.ask('POST', '/v1/estimate', tree)).status, 200, 'a tree with a slash is no file');

// Headers.
const page = await server.ask('GET', '/');
if (page.status === 200) {
  checks.that(page.text.startsWith('<!doctype html>') && page.text.includes("default-src 'none'"), 'the live page with its policy');
  checks.that(page.headers['content-security-policy'].includes("frame-ancestors 'none'"), 'nobody frames it');
} else {
  console.log('built without the live page');
  checks.equal([page.status, page.json.problems.length], [404, 1], 'without the live page');
}
for (const { headers } of [page, models, wrong, elsewhere]) {
  checks.equal([headers['x-content-type-options'], headers['cache-control']], ['nosniff', 'no-store'], 'headers');
  checks.that(headers['content-security-policy'], 'a policy');
}

// The description, judged by a validator that no one here wrote; and it says what the server takes.
const { json: description } = await server.ask('GET', '/v1/openapi.json');
const validity = await new Validator().validate(structuredClone(description));
checks.that(validity.valid, `OpenAPI: ${JSON.stringify(validity.errors)}`);
checks.equal(description.openapi, '3.1.0', 'its version');
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(description, 'openapi');
const schemaOf = (name) => ajv.getSchema(`openapi#/components/schemas/${name}`);
const examples = { workload: 0, point: 0 };
for (const name of readdirSync(join(source, 'examples')).filter((each) => each.endsWith('.json'))) {
  const example = JSON.parse(read(`examples/${name}`));
  const schema = example.traffic && example.platforms ? 'workload' : example.axes ? null : 'point';
  if (schema === null) continue;
  examples[schema] += 1;
  const validate = schemaOf(schema);
  checks.that(validate(example), `examples/${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
}
checks.that(examples.workload > 5 && examples.point > 2, `examples: ${JSON.stringify(examples)}`);
checks.that(schemaOf('workload')({ ...workload, traffic: { batch: { from: 1, to: 8 } } }), 'an axis as a range');
checks.that(schemaOf('diagnosis')(diagnosis) && schemaOf('lint')({ text: flags, engine: 'vllm@0.19' }), 'diagnosis and lint');
for (const [schema, question] of [
  ['workload', { ...workload, objektive: 'latency' }],
  ['workload', { ...workload, objective: 'speed' }],
  ['workload', { ...workload, traffic: { batch: 0 } }],
  ['workload', { ...workload, platforms: [{ devise: 'h100-sxm' }] }],
  ['workload', { ...workload, platforms: [] }],
  ['workload', { ...workload, draft_tokens: [] }],
  ['workload', { ...workload, rollback: ['foo'] }],
  ['point', { ...point, rollback: 'foo' }],
  ['point', { ...point, prefix_hit: 1 }],
  ['point', { ...point, batch: '16' }],
  ['point', { ...point, drafter: { kind: 'eagle4' } }],
  ['lint', { text: 3 }],
]) {
  checks.that(!schemaOf(schema)(question), `the schema takes ${JSON.stringify(question)}`);
  const path = { workload: 'recommend', point: 'estimate', lint: 'lint' }[schema];
  checks.equal((await server.ask('POST', `/v1/${path}`, question)).status, 422, `and so does the server`);
}

// Answers are what their schemas say, key by key.
for (const [path, method, question] of [
  ['recommend', 'post', workload],
  ['recommend', 'post', { ...workload, drafters: [] }],
  ['recommend', 'post', { ...workload, target: 'llama-3.1-405b', platforms: ['rtx-4090'], drafters: ['ngram'] }], // nothing fits
  ['estimate', 'post', point],
  ['diagnose', 'post', diagnosis],
  ['lint', 'post', { text: flags }],
  ['models', 'get', ''],
  ['models', 'get', '?name=llama-3.1-8b'],
  ['devices', 'get', ''],
  ['devices', 'get', '?name=vck190'],
]) {
  const { json, status } = await (method === 'get'
    ? server.ask('GET', `/v1/${path}${question}`)
    : server.ask('POST', `/v1/${path}`, question));
  const { schema } = description.paths[`/v1/${path}`][method].responses['200'].content['application/json'];
  const validate = ajv.compile(schema);
  checks.that(status === 200 && validate(json), `${path}: ${status} ${JSON.stringify(validate.errors?.slice(0, 3))}`);
  const described = schema.properties ?? (json.format ? schema.anyOf[0].properties : json);
  checks.equal(Object.keys(json).filter((key) => !(key in described)), [], `${path}: keys without a word`);
}
for (const status of ['411', '414']) checks.that(status in description.components.responses, `${status} is described`);

checks.equal(await server.stop(), 0, 'SIGTERM ends it');

// The least memory that may be asked for is enough to answer with.
const small = await Server.start(program, ['--memory-gib', '0.25']);
checks.equal((await small.ask('POST', '/v1/estimate', point)).status, 200, 'an answer in 0.25 GiB');
checks.equal(await small.stop(), 0, 'which ends, too');

rmSync(work, { recursive: true });
checks.finish();
