import { expect, test } from "bun:test";
import { contested, flagConflicts } from "../../../src/engine/retrieve/select.ts";
import { freshId } from "../../contract/samples.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { aResult } from "./pool.ts";

const ranking = [
  aResult(1, 0.9, { lifecycleState: "contested" }),
  aResult(2, 0.8, { lifecycleState: "stable" }),
  aResult(3, 0.7, { lifecycleState: "contested" }, { paths: ["SESSION_CONTEXT"] }),
];

test("contested claims are found wherever they came from", () => {
  expect(contested(ranking).map(({ key }) => key)).toEqual(nodeKeys(1, 3));
});

test("a contested claim is flagged with the other side, and the order stays", () => {
  const other = freshId();
  const flagged = flagConflicts(ranking, new Map([[nodeKey(3), other]]));

  expect(flagged).toEqual([
    ranking[0] as never,
    ranking[1] as never,
    { ...ranking[2], conflictFlag: true, contradictsId: other } as never,
  ]);
});

test("a contested claim that nothing contradicts stays as it is", () => {
  expect(flagConflicts(ranking, new Map())).toEqual(ranking);
});
