import { number } from "../parts/format.ts";
import { counted } from "./plural.ts";

export const health = {
  sound: "Nothing is wrong",
  unexamined: "Health",
  wrong: (count: number) => `${counted(count, "thing is", "things are")} wrong`,
  worth: (count: number) => `${counted(count, "thing needs", "things need")} attention`,
  doctor: {
    title: "What svc doctor finds",
    at: (time: string) => `examined at ${time}`,
    run: "Examine",
    again: "Examine again",
    running: "Reading everything that is there…",
    passed: (count: number) => `${counted(count, "check")} passed`,
    status: { ok: "passed", warn: "needs attention", fail: "wrong" },
    large: (size: string) =>
      `Everything is read, which takes a while with ${size}. It is done when you ask for it.`,
    bound:
      "Your key is that of one owner. What belongs to all owners, the files and the programs, is examined with the key of an operator, or on its machine with:",
    failed: "Nothing was examined.",
  },
  figures: {
    title: "Memories by state",
  },
  aside: "Where it is kept",
  pack: {
    title: { sqlite: "The pack", postgres: "The database" },
    kept: "kept",
    size: "size",
    owners: "owners",
    model: "model",
    dimension: (count: number) => `${number(count)} numbers a text`,
    embeddings: "embedded",
    embedded: (computed: number, asked: number) =>
      `${number(computed)} texts since the start; ${number(asked - computed)} were remembered`,
    embeddingFailed: (count: number) => `${counted(count, "failure")}`,
    memories: "active memories",
    events: "events",
    receipts: "receipts",
    program: "program",
    version: (version: string) => `svc ${version}`,
    changes: "changes",
    allowed: "allowed",
    refused: "refused: read-only",
    backend: { sqlite: "SQLite", postgres: "PostgreSQL" },
    whole: "of all owners",
    own: (who: string) => `of ${who}`,
  },
  work: {
    title: "Waiting work",
    none: "No text waits to be indexed, and none to be extracted.",
    texts: (count: number) =>
      count === 1 ? "1 text is not indexed yet" : `${number(count)} texts are not indexed yet`,
    messages: (count: number) =>
      count === 1
        ? "Memories are still to be extracted from 1 message"
        : `Memories are still to be extracted from ${number(count)} messages`,
    failed: (count: number) => `${number(count)} of them failed before`,
    givenUp: (count: number) => `${counted(count, "message was", "messages were")} given up`,
    note: "It is done by itself while a program has it open; questions find what is not indexed by its words alone.",
    run: "Do it now",
    done: (done: number, left: number) => `${number(done)} done, ${number(left)} left.`,
  },
  organizer: {
    title: "Organizer",
    what: "It keeps memories in order: what proved itself becomes stable, what faded or ended is archived, what is there twice becomes one. Nothing is deleted.",
    preview: "Show what it would change",
    running: "Looking through the memories…",
    nothing: "It would change nothing.",
    would: (count: number) => `It would make ${counted(count, "change")}:`,
    more: (count: number) => `and ${number(count)} more`,
    ran: (jobs: number) => `Checked by ${counted(jobs, "job")}.`,
    errors: (count: number) =>
      `${counted(count, "memory", "memories")} could not be looked at and stayed as they were.`,
    apply: "Change them",
    applyNote:
      "Jobs run one after the other, so a later job sees what an earlier one changed. Each change is in the log, with the memory before and after it.",
    done: (count: number) => `Organized: ${counted(count, "change")}.`,
    untold: "a memory without a text",
    to: "becomes",
    jobs: {
      promote: "proved itself",
      decay_sweep: "faded",
      archive: "hardly any weight left",
      deduplicate: "there twice",
      alias_resolve: "two names of one",
      summarize: "summary",
      feedback_apply: "feedback",
      tombstone_sweep: "its time is over",
      snapshot_generation: "snapshot",
      consolidate: "similar ones",
      index_compaction: "index",
    },
  },
  keys: {
    examine: "examine it",
    work: "do what waits",
    organize: "show what the organizer would change",
  },
};
