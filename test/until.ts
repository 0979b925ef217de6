/** Waits until something is true, for 5 seconds at most. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 5000;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error("it did not come to pass within 5 s");
    await Bun.sleep(5);
  }
}
