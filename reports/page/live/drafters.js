// The part of the form about who drafts: each drafter with its acceptance, and how far or in which tree it drafts.
import { button, element } from '../src/lib/dom.js';
import { curve } from './curve.js';
import { choice, group, slider, text } from './fields.js';
import * as q from './question.js';
import { treeEditor } from './tree.js';

const FIRST_CURVE = [0.7, 0.5, 0.36, 0.26, 0.19];
const MOST = 4;
const OWN = 'own '; // before a kind in the list: its acceptance is the reader's

/** What a drafter is that is picked from the list: published ones by name, kinds with a curve to drag. */
const drafterOf = (picked) =>
  picked.startsWith(OWN) ? { kind: picked.slice(OWN.length), acceptance: { per_position: FIRST_CURVE } } : picked;

function pickedOf(drafter) {
  if (typeof drafter === 'string') return drafter;
  return drafter.published ?? (q.KINDS.includes(drafter.kind) ? OWN + drafter.kind : q.nameOfDrafter(drafter));
}

/** The curve to show for a drafter: its own, else as measured, else the one that it was last priced with. */
function positionsOf(drafter, { priced, known }) {
  if (drafter.acceptance?.per_position) return drafter.acceptance.per_position;
  if (drafter.acceptance?.file) return null;
  const name = q.nameOfDrafter(drafter);
  return (known.find((each) => each.name === name) ?? priced.find((each) => each.label === name))?.per_position ?? null;
}

const nameOfField = (at, count) => (count > 1 ? `Drafter ${at + 1}` : 'Drafter');

function kindField(drafter, label, context, replace) {
  const options = [
    ['known', 'every known one'],
    ...context.known.map(({ name, title }) => [name, title]),
    ...q.KINDS.map((kind) => [OWN + kind, `${q.NAMES_OF_KINDS[kind]}, curve of my own`]),
  ];
  const set = (value) => {
    replace(drafterOf(value));
    context.rebuild();
  };
  return choice({ label, options, value: pickedOf(drafter), set });
}

/** Where the acceptance comes from, once a run was handed over. */
function runField(drafter, { files, kinds, rebuild }, replace) {
  const runs = Object.keys(files).filter((file) => kinds[file] === 'run');
  if (runs.length === 0 || drafter === 'known') return null;
  const set = (value) => {
    const base = q.asMeasured(drafter);
    replace(value ? { ...q.drafterObject(base), acceptance: { file: value } } : base);
    rebuild();
  };
  return choice({ label: 'Acceptance from', options: [['', 'the curve'], ...runs], value: drafter.acceptance?.file, set });
}

function curveField(drafter, context, replace, current) {
  const positions = positionsOf(drafter, context);
  if (!positions) return null;
  const reset = () => {
    replace(q.asMeasured(current()));
    context.rebuild();
  };
  return curve({
    label: q.nameOfDrafter(drafter),
    positions,
    changed: (values) => replace(q.withPositions(current(), values)),
    reset: q.drafterObject(drafter).published ? reset : null,
  });
}

function ranksField(drafter, { question }, replace, current) {
  if (q.drafted.get(question) === 'chain' || drafter === 'known') return null;
  return text({
    label: 'By rank',
    name: `By rank of ${q.nameOfDrafter(drafter)}`,
    placeholder: '0.63, 0.11, 0.06',
    hint: 'P(the child of rank r is the accepted one); assumed where it is empty',
    value: drafter.acceptance?.per_rank?.join(', '),
    read: q.readRanks,
    set: (ranks) => replace(q.withRanks(current(), ranks)),
  });
}

function oneDrafter(drafter, at, context) {
  const { question, changed, rebuild } = context;
  const several = q.draftersOf(question).length > 1;
  const current = () => q.draftersOf(question)[at];
  const replace = (next) => {
    question.drafters = q.draftersOf(question).map((each, i) => (i === at ? next : each));
    changed();
  };
  const takeAway = () => {
    const left = q.draftersOf(question).filter((_, i) => i !== at);
    question.drafters = left;
    changed();
    rebuild(nameOfField(Math.min(at, left.length - 1), left.length));
  };
  return element(
    'div',
    { class: 'drafter' },
    kindField(drafter, nameOfField(at, q.draftersOf(question).length), context, replace),
    runField(drafter, context, replace),
    curveField(drafter, context, replace, current),
    ranksField(drafter, context, replace, current),
    several && button('Take away', takeAway, { class: 'quiet', 'aria-label': `Take away ${q.nameOfDrafter(drafter)}` }),
  );
}

/** A tree that is drawn, and a form to grow another one in its place. */
function drawnTree(context) {
  const { question, changed, rebuild } = context;
  const set = (parents, focus) => {
    q.setShapes(question, [{ parents }]);
    changed();
    rebuild(focus);
  };
  const form = element('input', { value: 'branching:3,2,1', 'aria-label': 'Tree by name', spellcheck: 'false' });
  const complaint = element('p', { class: 'problem', role: 'status' });
  const grow = async () => {
    const ranks = q.draftersOf(question).map((each) => each.acceptance?.per_rank);
    const asked = { shape: form.value, per_rank: ranks.find(Boolean) ?? [] };
    const answer = JSON.parse((await context.ask('tree', asked)).answer);
    if (answer.parents?.length > 0) set(answer.parents);
    else complaint.textContent = answer.problems?.[0] ?? 'A tree of no nodes.';
  };
  form.addEventListener('keydown', ({ key }) => key === 'Enter' && grow());
  return [treeEditor(q.treeOf(question), set), element('div', { class: 'row' }, form, button('Grow', grow)), complaint];
}

/** A tree of an engine's own form: its three numbers, in the words of its flags. */
function engineTree({ form, numbers }, name, replace) {
  const { numbers: fields } = q.TREE_FORMS[form];
  return fields.map(([key, title], i) =>
    text({
      label: title,
      name: `${name}, ${key}`,
      mode: 'numeric',
      value: numbers[i],
      read: q.required(q.readCount),
      set(value) {
        numbers[i] = value;
        replace(q.treeText(form, numbers));
      },
    }),
  );
}

/** Any other tree, as it is written. */
function writtenTree(shape, name, replace) {
  return text({
    label: 'Tree',
    name,
    value: typeof shape === 'string' ? shape : JSON.stringify(shape),
    read: q.required(q.readShape),
    set: replace,
  });
}

function treeList(context) {
  const { question, changed, rebuild } = context;
  const shapes = q.shapesOf(question);
  const form = context.trees;
  const set = (next) => {
    q.setShapes(question, next);
    changed();
  };
  const rows = shapes.map((shape, i) => {
    const name = `Tree ${i + 1}`;
    const own = q.engineTree(shape);
    const replace = (next) => set(q.shapesOf(question).map((each, at) => (at === i ? next : each)));
    const takeAway = () => {
      set(q.shapesOf(question).filter((_, at) => at !== i));
      rebuild();
    };
    return element(
      'div',
      { class: 'tree-row', role: 'group', 'aria-label': own ? `${name}, as ${q.TREE_FORMS[own.form].engine} states it` : name },
      own ? engineTree(own, name, replace) : writtenTree(shape, name, replace),
      shapes.length > 1 && button('Take away', takeAway, { class: 'quiet', 'aria-label': `Take away tree ${i + 1}` }),
    );
  });
  const another = () => {
    set([...q.shapesOf(question), q.anotherTree(q.shapesOf(question), form)]);
    rebuild();
  };
  return [...rows, button('Another tree', another, { class: 'quiet' })];
}

/** Why the engine drafts none of these trees; undefined where it drafts one. */
function problemOfTrees({ question, trees, engineTitle }) {
  if (q.drafted.get(question) === 'chain' || !engineTitle) return undefined;
  if (trees === '') return `${engineTitle} drafts chains only: choose chains, or another engine above.`;
  return q.shapesOf(question).some((shape) => q.engineTree(shape)?.form === trees)
    ? undefined
    : `${engineTitle} drafts trees of its own form only.`;
}

/** Which trees can be chosen here, and what takes others. */
function whoDraftsTrees({ trees, engineTitle, enginesWithTrees }) {
  if (!engineTitle) return `With no engine, any tree is priced; ${enginesWithTrees} draft trees of their own form alone.`;
  return trees === ''
    ? `${engineTitle} drafts chains only. ${enginesWithTrees} draft trees of their own form; with no engine, any tree is priced.`
    : `${engineTitle} drafts trees of its own form, in the words of its flags; with no engine, any tree is priced.`;
}

function shapeFields(context) {
  const { question, changed, rebuild, trees, engineTitle } = context;
  const shape = q.drafted.get(question);
  const problem = problemOfTrees(context);
  const restate = () => {
    q.setShapes(question, [q.firstTree(trees)]);
    changed();
    rebuild('Shape');
  };
  const none = Boolean(engineTitle) && trees === '';
  return [
    choice({
      label: 'Shape',
      options: [
        ['chain', 'chains'],
        ['tree', 'trees', none],
        ['both', 'chains and trees', none],
      ],
      value: shape,
      hint: whoDraftsTrees(context),
      problem,
      set(value) {
        q.drafted.set(question, value, trees);
        changed();
        rebuild();
      },
    }),
    problem && trees && button(`As ${engineTitle} states them`, restate, { class: 'quiet' }),
    shape !== 'chain' && (q.treeOf(question) ? drawnTree(context) : treeList(context)),
    shape !== 'tree' &&
      slider({
        label: 'Draft tokens, at most',
        least: 1,
        most: 16,
        value: q.longest.get(question),
        placeholder: 'as measured',
        read: q.readCount,
        set(value) {
          q.longest.set(question, value);
          changed();
        },
      }),
  ];
}

export function drafterFields(context) {
  const { question, changed, rebuild } = context;
  const drafters = q.draftersOf(question);
  const another = () => {
    const named = drafters.map(q.nameOfDrafter);
    const next = context.known.find(({ name }) => !named.includes(name))?.name ?? `${OWN}ngram`;
    const kept = drafters.filter((each) => each !== 'known');
    question.drafters = [...kept, drafterOf(next)];
    changed();
    rebuild(nameOfField(kept.length, kept.length + 1));
  };
  return group(
    'Drafting',
    drafters.length === 0
      ? element('p', { class: 'hint' }, 'None: plain decoding alone.')
      : drafters.map((each, i) => oneDrafter(each, i, context)),
    drafters.length < MOST && button('Another drafter', another, { class: 'quiet' }),
    shapeFields(context),
  );
}
