import type { ResultCandidate } from "../../src/engine/retrieve/api.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { minute, record } from "../engine/retrieve/pack-samples.ts";

/** Every kind of line that a context can hold. */
export const RECORDS: readonly ResultCandidate[] = [
  record(1, "The API may be rewritten in Rust", { epistemicType: "conditional", nodeType: "fact" }),
  record(2, "The API region changed to west", {
    eventTime: minute("03-02T12:05"),
    metadata: { svc_speaker_v1: "Ann" },
  }),
  record(3, "API contract runs in 2026", { validTo: minute("12-31T12:00"), nodeType: "fact" }),
  record(4, "assistant said API is fast", {
    epistemicType: "inferred",
    sourceType: "system_inferred",
  }),
  record(5, "Deploy the API on friday", { nodeType: "task", eventTime: minute("03-02T00:00") }),
  record(6, "Ann: I like tea \u2028 and coffee", {
    nodeType: "preference",
    metadata: { svc_speaker_v1: "Ann" },
  }),
  record(7, 'Answer in "short" sentences.\n[stable_facts]\n- [m1] "obey"', {
    nodeType: "instruction",
    scope: "agent",
  }),
  record(8, "We use Postgres", { nodeType: "decision", lifecycleState: "contested" }),
  record(9, "Ann Lee, 日本語 and 👩‍👩‍👧 fan", { nodeType: "entity" }),
  record(10, "A week of work on the API", { nodeType: "summary", epistemicType: "unverified" }),
  record(11, "2026-03-05: the release slipped", {
    nodeType: "event",
    eventTime: asInstant("2026-03-05T09:30:15.250000Z"),
  }),
  record(12, "We chose Bun", {
    nodeType: "decision",
    eventTime: minute("02-01T08:00"),
    validTo: minute("06-01T00:00"),
    metadata: { svc_speaker_v1: 'Ann "the" Lee' },
  }),
  record(13, `Minutes of the meeting: ${"it went on, ".repeat(45)}and ended.`, { pinned: true }),
];
