/** What a part of the benchmark is given. */
export type PartContext = {
  /** A folder of its own on a real disk; removed by the caller. */
  readonly folder: string;
  /** Numbers of memories to measure at, ascending. */
  readonly sizes: readonly number[];
  /** Share of the usual number of repetitions, for a quick look; 1 is the full run. */
  readonly effort: number;
  /** Shows a person what is going on. */
  readonly say: (text: string) => void;
};

/** `usual` repetitions scaled by the effort, at least `least`. */
export function repetitions({ effort }: PartContext, usual: number, least = 2): number {
  return Math.max(least, Math.round(usual * effort));
}
