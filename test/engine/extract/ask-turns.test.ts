import { describe, expect, test } from "bun:test";
import { type BatchAnswer, readBatchAnswer } from "../../../src/domain/extraction/read-answer.ts";
import { batchOf, type Waiting } from "../../../src/domain/extraction/work.ts";
import { type AnsweredBatch, askTurns } from "../../../src/engine/extract/derive.ts";

/** What a request for these turns comes to: the turns that are answered, or the name of a failure. */
type Reply = readonly number[] | string;

/** Asks about turns 1 to `count`, with a provider that answers by what it is asked. */
async function ask(count: number, reply: (turns: readonly number[]) => Reply) {
  const asked: (readonly number[])[] = [];
  const saved: AnsweredBatch<number>[] = [];
  const turns = Array.from({ length: count }, (_, index) => index + 1);
  const failed = await askTurns(
    turns,
    async (some) => {
      asked.push(some);
      const said = reply(some);
      if (typeof said === "string") throw Object.assign(new Error("x"), { name: said });
      return answerOf(some, said);
    },
    { save: async (batch) => void saved.push(batch) },
  );
  const results = saved.flatMap((batch) => [...batch.results.keys()]);
  const silent = saved.flatMap((batch) => batch.silent);
  return { asked, saved, failed, results: results.sort((a, b) => a - b), silent };
}

function answerOf(turns: readonly number[], answered: readonly number[]): BatchAnswer {
  const entries = answered.map((turn) => ({ turn: turns.indexOf(turn) + 1, facts: [] }));
  const read = readBatchAnswer(JSON.stringify({ turns: entries }), turns.length);
  if (read === undefined) throw new Error("unreadable");
  return read;
}

describe("turns in one request", () => {
  test("are saved at once when each has an entry", async () => {
    const { asked, saved, failed } = await ask(5, (turns) => turns);
    expect(asked).toEqual([[1, 2, 3, 4, 5]]);
    expect(saved.map(({ turnsAskedAgain }) => turnsAskedAgain)).toEqual([[]]);
    expect(failed).toEqual([]);
  });

  test("that are left out are asked about once more, and then state nothing", async () => {
    const { asked, saved, results, silent } = await ask(5, (turns) =>
      turns.length === 5 ? [1, 3, 5] : [2],
    );
    expect(asked).toEqual([
      [1, 2, 3, 4, 5],
      [2, 4],
    ]);
    expect(saved.map(({ turnsAskedAgain }) => turnsAskedAgain)).toEqual([[2, 4], []]);
    expect(results).toEqual([1, 2, 3, 4, 5]);
    expect(silent).toEqual([4]);
  });

  test("of which none has an entry state nothing, at once", async () => {
    const { asked, results, silent } = await ask(3, () => []);
    expect(asked).toHaveLength(1);
    expect(results).toEqual([1, 2, 3]);
    expect(silent).toEqual([]);
  });

  test("are asked about in halves while answers cannot be read, in order", async () => {
    const { asked, failed, results } = await ask(5, (turns) =>
      turns.includes(4) ? "ValidationError" : turns,
    );
    expect(asked).toEqual([[1, 2, 3, 4, 5], [1, 2], [3, 4, 5], [3], [4, 5], [4], [5]]);
    expect(failed).toEqual([{ turns: [4], code: "ValidationError" }]);
    expect(results).toEqual([1, 2, 3, 5]);
  });

  test.each([[1], [2], [7], [16], [31]])("%i cost at most 2n - 1 requests", async (count) => {
    const { asked, failed } = await ask(count, () => "ValidationError");
    expect(asked.length).toBeLessThanOrEqual(2 * count - 1);
    expect(failed.flatMap(({ turns }) => turns)).toHaveLength(count);
  });

  test.each([["TimeoutError"], ["BadRequestError"]])(
    "are not asked about further once a single one ends in %s",
    async (code) => {
      const { asked, failed } = await ask(16, () => code);
      expect(asked.map((turns) => turns.length)).toEqual([16, 8, 4, 2, 1]);
      expect(failed.flatMap(({ turns }) => turns)).toHaveLength(16);
    },
  );

  test("keep what was answered when the rest fails", async () => {
    const { results, failed } = await ask(4, (turns) =>
      turns.length === 4 ? "TimeoutError" : turns.includes(1) ? turns : "RateLimitError",
    );
    expect(results).toEqual([1, 2]);
    expect(failed).toEqual([{ turns: [3, 4], code: "RateLimitError" }]);
  });

  test.each([
    ["RateLimitError"],
    ["APIConnectionError"],
    ["InternalServerError"],
    ["AuthenticationError"],
  ])("are not asked about again after %s", async (code) => {
    const { asked, failed } = await ask(8, () => code);
    expect(asked).toHaveLength(1);
    expect(failed).toEqual([{ turns: [1, 2, 3, 4, 5, 6, 7, 8], code }]);
  });

  test("that were left out may be asked about in halves too", async () => {
    const { asked, results } = await ask(4, (turns) => {
      if (turns.length === 4) return [1];
      return turns.length > 1 ? "ValidationError" : turns;
    });
    expect(asked).toEqual([[1, 2, 3, 4], [2, 3, 4], [2], [3, 4], [3], [4]]);
    expect(results).toEqual([1, 2, 3, 4]);
  });
});

describe("a request", () => {
  const turn = (
    tokens: number,
    sessionId: string | undefined = "s",
    isRecorded = false,
  ): Waiting => ({
    tokens,
    sessionId,
    isRecorded,
  });
  const sizes = (head: Waiting, later: readonly Waiting[]) =>
    batchOf(head, later, 100).map(({ tokens }) => tokens);

  test("takes turns of a session up to the target, and none after the first that does not fit", () => {
    expect(sizes(turn(40), [turn(50), turn(10), turn(1)])).toEqual([40, 50, 10]);
    expect(sizes(turn(40), [turn(50), turn(11), turn(1)])).toEqual([40, 50]);
  });

  test("passes over other sessions and what is saved", () => {
    expect(sizes(turn(1), [turn(2, "t"), turn(3, "s", true), turn(4)])).toEqual([1, 4]);
  });

  test("is for one turn that is large or belongs to no session", () => {
    expect(sizes(turn(101), [turn(1)])).toEqual([101]);
    expect(
      batchOf({ tokens: 1, sessionId: undefined, isRecorded: false }, [turn(1)], 100),
    ).toHaveLength(1);
    expect(batchOf(turn(1), [turn(1)], 0)).toHaveLength(1);
  });

  test("takes a thousand turns at most besides its own", () => {
    expect(
      batchOf(
        turn(0),
        Array.from({ length: 5000 }, () => turn(0)),
        100,
      ),
    ).toHaveLength(1001);
  });

  test("for a hundred turns of forty tokens is at most three", () => {
    const waiting = Array.from({ length: 100 }, (_, id) => ({ id, ...turn(40) }));
    let rest = waiting;
    let requests = 0;
    for (let head = rest[0]; head !== undefined; head = rest[0]) {
      const taken = new Set(batchOf(head, rest.slice(1), 2048).map(({ id }) => id));
      rest = rest.filter(({ id }) => !taken.has(id));
      requests += 1;
    }
    expect(requests).toBeLessThanOrEqual(3);
  });
});
