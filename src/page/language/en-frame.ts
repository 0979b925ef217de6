import { number } from "../parts/format.ts";
import { counted } from "./plural.ts";

/** Around the views. */
export const frame = {
  skip: "Skip to the content",
  views: "Views",
  title: (view: string) => `${view} · svc`,
  view: {
    timeline: "Timeline",
    search: "Search",
    memory: "Memory",
    conflicts: "Conflicts",
    things: "People and things",
    claims: "Claims",
    activity: "Activity",
    forgetting: "Forgetting",
    health: "Health",
  },
  open: (count: number) => `${count} open`,
  owner: "Owner",
  ofOwners: (place: number, count: number) => `${place} of ${count}`,
  chooseOwner: "Whose memory?",
  memories: (count: number) => counted(count, "memory", "memories"),
  encrypted: "encrypted",
  unencrypted: "not encrypted",
  byServer: "the server decides whether it is encrypted",
  readOnly: "read-only: nothing can be changed here",
  keysHint: "keys",
  goHint: "go to",
  noOwnerTitle: "Nothing is remembered yet",
  noOwner:
    "The first memory appears here as soon as an assistant stores one. Connect one, or store a sentence yourself:",
  key: {
    title: "This memory asks for a key",
    missing:
      "The server was started with keys. Enter the one that you were given; this tab keeps it until it is closed.",
    opened: "Open the link that `svc open` printed; start it again for another tab.",
    wrong: "The server does not know this key.",
    ended: "Another window has used the link of svc open. Run the command again for a new link.",
    code: "The link was not accepted:",
    label: "Key",
    use: "Use this key",
  },
  lost: {
    title: "svc does not answer",
    text: (host: string, time: string) =>
      `It answered on ${host} until ${time}. What you see is from then, and nothing can be changed. Start it again, and this page goes on by itself.`,
    next: (seconds: number) => `next try in ${seconds} s`,
    retry: "Try now",
  },
  palette: {
    title: "Go to",
    label: "A view, a memory's id, or a question",
    ask: (question: string) => `Ask: ${question}`,
    memory: (id: string) => `Open the memory ${id}`,
  },
  look: {
    title: "Look",
    system: "match system",
    light: "light",
    dark: "dark",
  },
};

/** What keys do, as the list of keys names it. */
export const keys = {
  title: "Keys",
  goTo: (view: string) => `go to ${view}`,
  ask: "ask",
  palette: "go to anything",
  help: "these keys",
  undo: "undo",
  next: "next row",
  before: "previous row",
  first: "first row",
  last: "last row",
  open: "open what has the focus",
  space: "space",
  back: "back",
  on: "Single-key shortcuts",
  onText: "Turn this off if you speak to your computer.",
};

/** What views share. */
export const parts = {
  copy: "Copy",
  copied: "Copied",
  undo: "Undo",
  cancel: "Cancel",
  close: "Close",
  json: "JSON",
  asCurl: "As curl",
  copyLink: "Copy link",
  hiddenRun: (count: number) => `${number(count)} hidden`,
  hidden: (count: number) => counted(count, "hidden character"),
  more: (count: number) => `${number(count)} more`,
  all: (count: number) => `Show all ${number(count)} characters`,
  ofOne: (value: string) => `${value} of 1`,
};

/** What stands where there are no records. */
export const states = {
  loading: "Reading the memory…",
  failed: "This could not be read",
  notFound: "There is no such memory",
  notFoundText: "It was forgotten, or belongs to another owner.",
  code: (status: number, code: string) => `${status} · ${code}`,
  again: "Read it again",
  refused: "Not changed.",
};
