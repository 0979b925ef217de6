import type { DownloadProgress } from "./download.ts";

const STEP_PERCENT = 10;

/** Turns progress into few lines for a person: one when a file begins, one for every tenth of it, and one at its end. */
export function progressLines(write: (line: string) => void): (progress: DownloadProgress) => void {
  let last = "";
  return ({ model, file, receivedBytes, totalBytes }) => {
    const percent = totalBytes === undefined ? 0 : (100 * receivedBytes) / totalBytes;
    const tenth = Math.floor(percent / STEP_PERCENT) * STEP_PERCENT;
    const key = `${model} ${file} ${tenth}`;
    if (key === last) return;
    last = key;
    const size = totalBytes === undefined ? "" : ` of ${(totalBytes / 1e6).toFixed(1)} MB`;
    write(`downloading ${model}: ${file}, ${tenth} %${size}`);
  };
}
