/** Receives how much of a step is done; cheap enough to be called for each record. */
export type StepProgress = (done: number, total: number) => void;

/** Progress of the upgrade of a pack. */
export type UpgradeProgress = {
  /** A step begins. @returns the progress function for its records, if it processes them one by one */
  readonly begin: (name: string) => StepProgress;
  /** Everything is done. */
  readonly end: () => void;
};

/** No progress is wanted. */
export const SILENT: UpgradeProgress = { begin: () => () => {}, end: () => {} };

/** Milliseconds before the first line, and between two lines. */
const QUIET_MS = 1000;

/**
 * Reports the progress of an upgrade in words: nothing in its first second, then at most one line per second, and a final one if
 * there was one before.
 * @param nowMs milliseconds of a clock that never goes back
 */
export function upgradeInWords(
  path: string,
  say: (line: string) => void,
  nowMs: () => number,
): UpgradeProgress {
  const started = nowMs();
  let spoken = started;
  const maySpeak = (): boolean => nowMs() - spoken >= QUIET_MS;
  const speak = (text: string): void => {
    spoken = nowMs();
    say(`${path}: ${text}`);
  };
  return {
    begin: (name) => {
      const what = `upgrading the pack from an earlier version (${name})`;
      if (maySpeak()) speak(what);
      return (done, total) => {
        if (maySpeak()) speak(`${what}: ${done} of ${total}`);
      };
    },
    end: () => {
      if (spoken === started) return;
      speak(`upgraded after ${Math.round((nowMs() - started) / 1000)} s`);
    },
  };
}
