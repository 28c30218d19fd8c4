// Keeps the first columns of a table in sight while the others are scrolled sideways.

const MOST_OF_BOX = 0.62; // share of the box that these columns may take

/** Pins the first `most` columns of `table`, or as many as leave room in `scroller` for the others; at least one. */
export function pinColumns(scroller, table, most) {
  const place = () => {
    const headings = [...table.tHead.rows[0].cells].slice(0, most);
    let left = 0;
    let pinned = 0;
    headings.forEach((heading, i) => {
      table.style.setProperty(`--pin-${i + 1}`, `${left}px`);
      left += heading.getBoundingClientRect().width;
      if (i === 0 || left <= scroller.clientWidth * MOST_OF_BOX) pinned = i + 1;
    });
    table.dataset.pinned = pinned;
  };
  new ResizeObserver(place).observe(table);
  new ResizeObserver(place).observe(scroller);
}
