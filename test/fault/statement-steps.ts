import { Database } from "bun:sqlite";

export type Steps = {
  readonly count: number;
  /** The steps that are commits; each is followed by the moment after it. */
  readonly commits: readonly number[];
};

/**
 * Counts the steps of the next write transaction of this process, and ends the process with SIGKILL before one of them. Steps
 * are the statements that run from the beginning of the transaction on, and the moment after its commit, at which nobody
 * knows of it yet.
 * @param last the step before which it ends, or 0 to finish
 * @returns the steps so far
 */
export function watchStatements(last: number): () => Steps {
  let isCounting = false;
  let count = 0;
  const commits: number[] = [];
  const step = (): void => {
    count += 1;
    if (count === last) process.kill(process.pid, "SIGKILL");
  };
  /** Counts what runs of a statement. */
  const counted = <T extends object>(statement: T, sql: string): T =>
    new Proxy(statement, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...parameters: readonly unknown[]): unknown => {
          isCounting ||= sql === "BEGIN IMMEDIATE";
          if (isCounting) step();
          const result: unknown = Reflect.apply(member, target, parameters);
          if (isCounting && sql === "COMMIT") {
            commits.push(count);
            step();
            isCounting = false;
          }
          return result;
        };
      },
    });
  const { query, run } = Database.prototype;
  // SAFETY, here and below: what is called is the method itself, with what it was given.
  Database.prototype.query = function (this: Database, sql: string) {
    return counted(Reflect.apply(query, this, [sql]), sql);
  } as typeof query;
  Database.prototype.run = function (this: Database, ...given: Parameters<typeof run>) {
    if (isCounting) step();
    return Reflect.apply(run, this, given);
  } as typeof run;
  return () => ({ count, commits });
}
