const works = new Set<() => void>();

/** Runs work when the process ends by itself or by `process.exit`; a failure is not told. @returns a function that takes it back */
export function atExit(work: () => void): () => void {
  if (works.size === 0) process.on("exit", runAll);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) process.off("exit", runAll);
  };
}

function runAll(): void {
  for (const work of works) {
    try {
      work();
    } catch {
      // The process is ending.
    }
  }
}
