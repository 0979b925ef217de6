import type { CliContext } from "./context.ts";
import { isTerminal } from "./terminal.ts";

/** Parts of the work after which a line is written where no line can be drawn again. */
const LINES = 10;

export type TransferProgress = {
  readonly show: (stage: string, done: number, total: number) => void;
  readonly stop: () => void;
};

/** Shows how far long work is, on stderr: a bar on a terminal, else a line at each tenth. */
export async function transferProgress({ output }: CliContext): Promise<TransferProgress> {
  if (isTerminal()) {
    const bar = await output.progressBar("copying");
    return { show: (stage, done, total) => bar.show(done, total, stage), stop: bar.stop };
  }
  let last = "";
  return {
    show: (stage, done, total) => {
      const tenth = total === 0 ? LINES : Math.min(LINES, Math.floor((done * LINES) / total));
      const line = `${stage}: ${tenth * LINES}%`;
      if (line !== last) output.note(line);
      last = line;
    },
    stop: () => {},
  };
}
