// A page answers an action a moment later (a <details> tells of its opening in a task of its own, a chart is drawn in the next frame), and a
// busy machine makes that moment long.

/** Runs `check` until it no longer throws; after ten seconds, throws what it threw last. */
export async function eventually(check) {
  const end = Date.now() + 10_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
}
