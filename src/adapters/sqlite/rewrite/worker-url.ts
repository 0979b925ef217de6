/** The location of the rewriting thread. The build replaces this module, like that of the model's worker. */
export function workerUrl(): URL {
  return new URL("./worker.ts", import.meta.url);
}
