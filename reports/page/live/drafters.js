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
  if (!q.treeOf(question) || drafter === 'known') return null;
  const set = (value) => {
    const ranks = value
      .split(/[,\s]+/)
      .filter(Boolean)
      .map(Number);
    if (ranks.every((rank) => rank >= 0 && rank <= 1)) replace(q.withRanks(current(), ranks));
  };
  const hint = 'P(the child of rank r is the accepted one); a tree needs it';
  return text({
    label: 'By rank',
    placeholder: '0.63, 0.11, 0.06',
    hint,
    value: drafter.acceptance?.per_rank?.join(', '),
    set,
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
    question.drafters = q.draftersOf(question).filter((_, i) => i !== at);
    changed();
    rebuild();
  };
  return element(
    'div',
    { class: 'drafter' },
    kindField(drafter, several ? `Drafter ${at + 1}` : 'Drafter', context, replace),
    runField(drafter, context, replace),
    curveField(drafter, context, replace, current),
    ranksField(drafter, context, replace, current),
    several && button('Take away', takeAway, { class: 'quiet', 'aria-label': `Take away ${q.nameOfDrafter(drafter)}` }),
  );
}

function treeFields(context) {
  const { question, changed, rebuild } = context;
  const set = (parents) => {
    q.setTree(question, parents);
    changed();
    rebuild();
  };
  const form = element('input', { value: 'sglang:3,2,6', 'aria-label': 'Tree by name', spellcheck: 'false' });
  const complaint = element('p', { class: 'hint', role: 'status' });
  const grow = async () => {
    const ranks =
      q
        .draftersOf(question)
        .map((each) => each.acceptance?.per_rank)
        .find(Boolean) ?? [];
    const answer = JSON.parse((await context.ask('tree', { shape: form.value, per_rank: ranks })).answer);
    if (answer.parents?.length > 0) set(answer.parents);
    else complaint.textContent = answer.problems?.[0] ?? 'A tree of no nodes.';
  };
  form.addEventListener('keydown', ({ key }) => key === 'Enter' && grow());
  return [treeEditor(q.treeOf(question), set), element('div', { class: 'row' }, form, button('Grow', grow)), complaint];
}

export function drafterFields(context) {
  const { question, changed, rebuild } = context;
  const drafters = q.draftersOf(question);
  const tree = q.treeOf(question);
  return group(
    'Drafting',
    drafters.length === 0
      ? element('p', { class: 'hint' }, 'None: plain decoding alone.')
      : drafters.map((each, i) => oneDrafter(each, i, context)),
    drafters.length < MOST &&
      button(
        'Another drafter',
        () => {
          const named = drafters.map(q.nameOfDrafter);
          const next = context.known.find(({ name }) => !named.includes(name))?.name ?? `${OWN}ngram`;
          question.drafters = [...drafters.filter((each) => each !== 'known'), drafterOf(next)];
          changed();
          rebuild();
        },
        { class: 'quiet' },
      ),
    choice({
      label: 'Shape',
      options: [
        ['chain', 'chains'],
        ['tree', 'a tree'],
      ],
      value: tree ? 'tree' : 'chain',
      set(value) {
        q.setTree(question, value === 'tree' ? [0, 0, 1, 1, 3] : null);
        changed();
        rebuild();
      },
    }),
    tree
      ? treeFields(context)
      : slider({
          label: 'Draft tokens, at most',
          least: 1,
          most: 16,
          value: q.longest.get(question),
          placeholder: 'as measured',
          set(value) {
            const number = Number(value);
            if (value === '' || (Number.isInteger(number) && number > 0)) {
              q.longest.set(question, value);
              changed();
            }
          },
        }),
  );
}
