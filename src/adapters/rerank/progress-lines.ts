import type { DownloadProgress } from "./download.ts";

const STEP_PERCENT = 10;

/** Turns progress into few lines for a person: one when a file begins, and one for every tenth of it. */
export function progressLines(write: (line: string) => void): (progress: DownloadProgress) => void {
  let last = "";
  return ({ model, file, receivedBytes, totalBytes }) => {
    const line = `downloading ${model}: ${file}${howFar(receivedBytes, totalBytes)}`;
    if (line !== last) write(line);
    last = line;
  };
}

function howFar(receivedBytes: number, totalBytes: number | undefined): string {
  if (totalBytes === undefined) return "";
  const percent = Math.floor((100 * receivedBytes) / totalBytes / STEP_PERCENT) * STEP_PERCENT;
  return `, ${percent} % of ${(totalBytes / 1e6).toFixed(1)} MB`;
}
