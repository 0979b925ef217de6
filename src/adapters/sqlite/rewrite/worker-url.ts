/** Where the thread that writes pages again is found. The build replaces this module, as that of the model's worker. */
export function workerUrl(): URL {
  return new URL("./worker.ts", import.meta.url);
}
