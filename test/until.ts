/** Waits until something is true, for 30 seconds at most. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error("it did not come to pass within 30 s");
    await Bun.sleep(5);
  }
}
