/** One run at a time; however often it is asked for meanwhile, one more follows. */
export function coalesce(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;

  async function loop(): Promise<void> {
    try {
      do {
        again = false;
        await task();
      } while (again);
    } finally {
      running = undefined;
    }
  }

  return () => {
    if (running === undefined) {
      running = loop();
    } else {
      again = true;
    }
    return running;
  };
}
