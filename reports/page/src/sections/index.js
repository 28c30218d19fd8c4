// The sections of the report in reading order. A new section is one file here and one line in this list. Each exports
//   { id, heading, present(data): is there anything to show?, build(data): its nodes, in order }
import { summary } from './summary.js';
import { schedule } from './schedule.js';
import { memory } from './memory.js';
import { uncertainty } from './uncertainty.js';
import { heatmap } from './heatmap.js';
import { space } from './space.js';
import { draftLength } from './draft-length.js';
import { board } from './board.js';
import { figureSections } from './figures.js';
import { pareto } from './pareto.js';
import { round } from './round.js';
import { roofline } from './roofline.js';
import { candidates } from './candidates.js';
import { configuration } from './configuration.js';
import { records } from './records.js';
import { excluded } from './excluded.js';
import { inputs } from './inputs.js';
import { notes } from './notes.js';
import { live } from './live.js';

export const sectionsOf = (data) => [
  { ...summary, heading: data.summary?.heading ?? summary.heading },
  schedule,
  memory,
  uncertainty,
  heatmap,
  space,
  draftLength,
  board,
  ...figureSections(data),
  pareto,
  round,
  roofline,
  candidates,
  configuration,
  records(data),
  excluded,
  live,
  inputs,
  notes,
];
