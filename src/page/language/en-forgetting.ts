import type { ErasureCounts } from "../client/types.gen.ts";
import { counted } from "./plural.ts";

const memories = (count: number) => counted(count, "memory", "memories");
const messages = (count: number) => counted(count, "message");

export const forgetting = {
  soon: {
    title: "Ending within 30 days",
    note: "archived when their retention ends, unless you keep them",
    none: "No retention ends within 30 days.",
  },
  archived: {
    title: "Archived",
    note: "found no more; their texts are still there; newest first",
    none: "Nothing is archived.",
    all: "all of them in the timeline",
  },
  forgotten: {
    title: "Forgotten",
    note: "their texts are gone for good; their places in the log stay",
    none: "Nothing was forgotten.",
    what: (nodes: number, events: number) => `${memories(nodes)}, ${messages(events)}`,
  },
  more: (count: number) => `and ${counted(count, "other")}`,
  keep: "Keep",
  forget: "Forget",
  keys: { keep: "keep the memory of the row", forget: "forget it for good" },
  dialog: {
    title: "Forget for good",
    looking: "Looking for all that rests on it…",
    nothing: "There is nothing left to forget.",
    goes: (nodes: number, events: number) => `What goes: ${memories(nodes)}, ${messages(events)}`,
    why: {
      evidence: "rests on nothing but what goes",
      may_repeat: "rests on other messages, too, and may repeat what goes",
      summary: "sums up what goes",
    },
    besides: ({ edges, operations, receipts, blobs }: ErasureCounts) =>
      `${counted(edges, "connection")}, the texts of ${counted(operations, "entry", "entries")} of the log, ${counted(receipts, "receipt")} of answers${blobs > 0 ? `, ${counted(blobs, "picture")}` : ""}`,
    withThem: (besides: string) => `With them go ${besides}.`,
    stays: (count: number) => `What stays: ${counted(count, "text")}`,
    staysNothing: "Nothing that is related to it stays.",
    whyStays: {
      other_evidence: "other messages say it, too",
      own_text: "a message with a text of its own",
      replaced: "was replaced by one that goes; it stays retired",
    },
    keepDerived: "Keep memories that rest on other messages, too",
    notReached: (where: string) => `Not reached: ${where}.`,
    word: "forget",
    type: "To erase all of it, which nobody can undo, type",
    erase: "Erase it",
    refused: "Nothing was erased.",
    again: "Below is what would go now.",
    done: "Forgotten.",
  },
  gone: {
    title: "Forgotten for good",
    when: "when",
    by: "by",
    stage: "stage",
    stages: {
      logical:
        "found no more; the bytes go as soon as no other program reads there, or when it is opened next",
      physical: "gone, with their bytes",
    },
    went: "what went",
    besides: "besides",
    id: "id",
    receipt: "Receipt",
    hash: "receipt",
    sha256: (hash: string) => `SHA-256 ${hash}`,
    noHash: "none was made yet",
    save: "Save it as a file",
    here: "It proves what was erased. It is given once, and only its hash is kept: save it now. This tab has it until it is closed or loaded again.",
    notHere: "It was given once, to the one who erased it. Its hash is kept.",
    verify: "To check a receipt:",
  },
};
