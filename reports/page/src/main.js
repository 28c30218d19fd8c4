// The page: reads the report data that the program put into it and shows every section that has data.
import { element } from './lib/dom.js';
import { pageHeader, contents, pageFooter } from './lib/frame.js';
import { sectionsOf } from './sections/index.js';

const data = JSON.parse(document.getElementById('report-data').textContent);
const shown = sectionsOf(data).filter((section) => section.present(data));
const main = element('main', { id: 'content' });

document.title = data.title;
document.getElementById('page').append(pageHeader(data), contents(shown), main, pageFooter(data));
for (const section of shown) {
  const node = element(
    'section',
    { id: section.id, 'aria-labelledby': `${section.id}-heading` },
    element('h2', { id: `${section.id}-heading` }, section.heading),
  );
  main.append(node);
  try {
    node.append(...section.build(data).filter(Boolean));
  } catch (error) {
    // must not take the other sections with it
    console.error(error);
    node.append(element('p', {}, `This section could not be drawn: ${error.message}`));
  }
}
document.documentElement.dataset.ready = 'true';
