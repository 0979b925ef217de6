/** The location of the model's worker. The build replaces this module with one that names the worker's place in the executable. */
export function workerUrl(): URL {
  return new URL("./worker.ts", import.meta.url);
}
