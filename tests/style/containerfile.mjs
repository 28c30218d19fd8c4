// Has the Containerfile no mistake that a linter knows, and does the linter find one that was put in? node containerfile.mjs FILE
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { validate } = createRequire(new URL('../reports/package.json', import.meta.url))('dockerfile-utils');
const text = readFileSync(process.argv[2], 'utf8');
const problems = validate(text);
for (const { range, message } of problems) console.log(`FAILED: line ${range.start.line + 1}: ${message}`);
const broken = validate(text.replace('ENTRYPOINT', 'ENTRYPONT'));
if (broken.length === 0) console.log('FAILED: the linter lets a misspelt instruction pass');
process.exit(problems.length === 0 && broken.length > 0 ? 0 : 1);
