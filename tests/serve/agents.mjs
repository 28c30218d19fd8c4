// Treeline as a tool of agents, asked by the client of the protocol's own makers: node agents.mjs <program> <source>
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, InitializeResultSchema, ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import Ajv2020 from 'ajv/dist/2020.js';
import { Checks } from './server.mjs';

const [program, source] = process.argv.slice(2);
const checks = new Checks();
const read = (path) => readFileSync(join(source, path), 'utf8');
const run = (...words) => spawnSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout;

// The client itself checks every result against the protocol's schemas.
const client = new Client({ name: 'test', version: '1' });
const transport = new StdioClientTransport({ command: program, args: ['serve', '--stdio'], stderr: 'inherit' });
await client.connect(transport);
checks.equal(client.getServerVersion().name, 'treeline', 'its name');
checks.that(client.getInstructions().includes('recommend'), 'instructions');
await client.ping();
const { tools } = await client.listTools();
checks.equal(tools.map(({ name }) => name), ['recommend', 'estimate', 'diagnose', 'lint', 'models', 'devices'], 'tools');

const ajv = new Ajv2020({ strict: false });
for (const tool of tools) {
  checks.that(ajv.validateSchema(tool.inputSchema), `${tool.name}: its schema is one`);
  checks.that(tool.description.length > 40 && tool.annotations.readOnlyHint, `${tool.name}: what it does`);
}
const schema = (name) => ajv.compile(tools.find((tool) => tool.name === name).inputSchema);
const workload = JSON.parse(read('examples/llama-3.1-8b-h100.json'));
checks.that(schema('recommend')({ ...workload, format: 'json' }), 'a workload fits its schema');
checks.that(!schema('recommend')({ ...workload, objektive: 'latency' }), 'an unknown key does not');

const call = async (name, args) => client.callTool({ name, arguments: args });
const example = join(source, 'examples/llama-3.1-8b-h100.json');
checks.equal((await call('recommend', workload)).content[0].text, run('recommend', example), 'an answer for reading is the first screen');
const full = await call('recommend', { ...workload, format: 'json' });
checks.equal(full.content[0].text, run('recommend', example, '--format', 'json'), 'an answer in full is the program\'s bytes');
checks.equal(full.structuredContent, JSON.parse(full.content[0].text), 'and structured');
const point = { target: 'llama-3.1-8b', platform: { device: 'h100-sxm', stack: 'vllm' }, drafter: 'eagle3', draft_tokens: 3, batch: 16 };
checks.that((await call('estimate', point)).content[0].text.includes('TPOT'), 'an estimate');
const run_ = JSON.parse(read('examples/runs/vllm-16035.json'));
checks.that(!(await call('diagnose', { run: run_, point: JSON.parse(read('examples/runs/vllm-16035-point.json')) })).isError, 'a diagnosis');
checks.that((await call('lint', { text: '--spec-type ngram-simple --spec-draft-n-max 8' })).content[0].text.includes('Read as'), 'findings');
checks.equal((await call('models', {})).content[0].text, run('models'), 'models');
checks.that((await call('devices', { name: 'h100-sxm' })).content[0].text.includes('h100-sxm'), 'a device');

// What goes wrong in a tool is for the model to read; a tool that does not exist is the client's error.
const wrong = await call('recommend', { ...workload, target: 'llama-3.1-9b' });
checks.that(wrong.isError && wrong.content[0].text.includes('llama-3.1-9b'), 'a mistake comes back as text');
const hostile = await call('estimate', { ...point, target: 'x\u009b1m\u202ey' });
checks.that(/\\u202e/.test(hostile.content[0].text) && !/[\u0080-\u009f\u202a-\u202e]/.test(hostile.content[0].text), 'control characters are escaped');
const secret = await call('estimate', { ...point, target: '/etc/passwd' });
checks.that(secret.isError && secret.content[0].text.includes('none is read here'), 'no file is read');
for (const [request, code] of [
  [() => call('recommended', {}), -32602],
  [() => call('recommend', { ...workload, format: 'xml' }), -32602],
  [() => client.request({ method: 'resources/list' }, ListToolsResultSchema), -32601],
]) {
  const error = await request().then(() => undefined, (failure) => failure);
  checks.equal(error?.code, code, 'errors of the protocol');
}
await client.close();

// Versions, batches, and what no client of theirs sends.
class Raw {
  constructor() {
    this.process = spawn(program, ['serve', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = [];
    this.waiting = [];
    let rest = '';
    this.process.stdout.on('data', (data) => {
      const parts = (rest + data).split('\n');
      rest = parts.pop();
      for (const part of parts) (this.waiting.shift() ?? ((line) => this.lines.push(line)))(part);
    });
  }
  send(message) {
    this.process.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }
  async reply() {
    return JSON.parse(this.lines.shift() ?? (await new Promise((resolve) => this.waiting.push(resolve))));
  }
  async ask(message) {
    this.send(message);
    return this.reply();
  }
  end() {
    this.process.stdin.end();
    return new Promise((resolve) => this.process.on('exit', resolve));
  }
}
const request = (id, method, params) => ({ jsonrpc: '2.0', id, method, params });
const hello = (version) => request(1, 'initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 't', version: '1' } });
for (const [asked, agreed] of [
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2099-01-01', '2025-06-18'],
]) {
  const raw = new Raw();
  const { result } = await raw.ask(hello(asked));
  checks.equal(InitializeResultSchema.parse(result).protocolVersion, agreed, `version ${asked}`);
  raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  raw.send({ jsonrpc: '2.0', method: 'notifications/of/the/future' });
  raw.send({ jsonrpc: '2.0', id: 9, result: {} });
  const listed = await raw.ask(request('list', 'tools/list', {}));
  checks.equal(listed.id, 'list', 'ids are those of the request; notifications have no reply');
  ListToolsResultSchema.parse(listed.result);
  checks.equal(listed.result.tools[0].annotations !== undefined, agreed >= '2025-03-26', `annotations of ${agreed}`);
  const called = await raw.ask(request(3, 'tools/call', { name: 'models', arguments: { format: 'json' } }));
  CallToolResultSchema.parse(called.result);
  checks.equal(called.result.structuredContent !== undefined, agreed >= '2025-06-18', `structured content of ${agreed}`);
  const batch = await raw.ask([request(4, 'ping'), { jsonrpc: '2.0', method: 'notifications/cancelled' }, request(5, 'nothing')]);
  if (agreed === '2025-03-26') {
    checks.equal(batch.map(({ id, error }) => [id, error?.code]), [[4, undefined], [5, -32601]], 'a batch');
  } else {
    checks.equal(batch.error?.code, -32600, `${agreed} has no batches`);
  }
  checks.equal(await raw.end(), 0, 'it ends with its input');
}
const raw = new Raw();
await raw.ask(hello('2025-06-18'));
for (const [message, code, id] of [
  ['{"jsonrpc": "2.0", ', -32700, null],
  ['{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32600, null],
  ['[]', -32600, null],
  ['17', -32600, null],
  [{ jsonrpc: '1.0', id: 3, method: 'ping' }, -32600, 3],
  [{ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }, -32600, null],
  [{ jsonrpc: '2.0', id: 4, method: 17 }, -32600, 4],
  [{ jsonrpc: '2.0', id: 5, method: 'tools/call', params: [1] }, -32602, 5],
  [request(6, 'tools/call', { name: 'recommend', arguments: 'text' }), -32602, 6],
  [request(7, 'tools/list', { cursor: 'x' }), -32602, 7],
  [request(8, 'initialize', {}), -32602, 8],
  ['['.repeat(100_000), -32700, null],
  [`{"jsonrpc": "2.0", "id": 9, "method": "${'x'.repeat(2 << 20)}"}`, -32600, null],
]) {
  const { error, id: got } = await raw.ask(message);
  checks.equal([error?.code, got], [code, id], `${JSON.stringify(message).slice(0, 80)}`);
}
checks.equal((await raw.ask(request(10, 'ping'))).result, {}, 'it still answers');
await raw.end();
checks.finish();
