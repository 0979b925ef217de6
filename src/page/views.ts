import type { FunctionComponent } from "preact";
import { t } from "./language/texts.ts";
import { Activity } from "./views/activity.tsx";
import { Claims } from "./views/claims.tsx";
import { openConflicts } from "./views/conflicts/open.ts";
import { Conflicts } from "./views/conflicts.tsx";
import { Forgetting } from "./views/forgetting.tsx";
import { Health } from "./views/health.tsx";
import { Memory } from "./views/memory.tsx";
import { Search } from "./views/search.tsx";
import { Things } from "./views/things.tsx";
import { Timeline } from "./views/timeline.tsx";

/** A view of the page. */
export type View = {
  /** The first part of the path below `/inspect/`; empty for the first view. */
  readonly path: string;
  readonly title: string;
  /** Follows `g`. Absent: the view is not in the rail. */
  readonly letter?: string;
  /** The number beside its name in the rail; undefined or 0 shows none. */
  readonly badge?: () => number | undefined;
  /** Gets the second part of the path. */
  readonly component: FunctionComponent<{ readonly id: string }>;
};

/** The views in the order of the rail. A new one needs a line here. */
export const VIEWS: readonly View[] = [
  { path: "", title: t.frame.view.timeline, letter: "t", component: Timeline },
  { path: "search", title: t.frame.view.search, letter: "s", component: Search },
  { path: "memory", title: t.frame.view.memory, component: Memory },
  {
    path: "conflicts",
    title: t.frame.view.conflicts,
    letter: "c",
    badge: openConflicts,
    component: Conflicts,
  },
  { path: "things", title: t.frame.view.things, letter: "p", component: Things },
  { path: "claims", title: t.frame.view.claims, letter: "l", component: Claims },
  { path: "activity", title: t.frame.view.activity, letter: "a", component: Activity },
  { path: "forgetting", title: t.frame.view.forgetting, letter: "f", component: Forgetting },
  { path: "health", title: t.frame.view.health, letter: "h", component: Health },
];

export function viewAt(path: string): View | undefined {
  return VIEWS.find((view) => view.path === path);
}
