import type { FunctionComponent } from "preact";
import { Activity } from "./views/activity.tsx";
import { Claims } from "./views/claims.tsx";
import { Conflicts, useOpenContradictions } from "./views/conflicts.tsx";
import { Forgetting } from "./views/forgetting.tsx";
import { Health } from "./views/health.tsx";
import { Memory } from "./views/memory.tsx";
import { Overview } from "./views/overview.tsx";
import { Search } from "./views/search.tsx";
import { Things } from "./views/things.tsx";
import { Timeline } from "./views/timeline.tsx";

export type View = {
  /** The first part of the path below `/inspect/`; empty for the first view. */
  readonly path: string;
  readonly title: string;
  /** The key after `g`. Absent: the view is not in the rail. */
  readonly letter?: string;
  /** The number next to its name in the rail; undefined or 0 shows none. */
  readonly badge?: () => number | undefined;
  /** Gets the second part of the path. */
  readonly component: FunctionComponent<{ readonly id: string }>;
};

/** The views in rail order, those that need extraction last. A new one needs a line here. */
export const VIEWS: readonly View[] = [
  { path: "", title: "Overview", letter: "o", component: Overview },
  { path: "timeline", title: "Timeline", letter: "t", component: Timeline },
  { path: "search", title: "Search", letter: "s", component: Search },
  { path: "memory", title: "Memory", component: Memory },
  {
    path: "conflicts",
    title: "Conflicts",
    letter: "c",
    badge: () => useOpenContradictions().length,
    component: Conflicts,
  },
  { path: "activity", title: "Activity", letter: "a", component: Activity },
  { path: "forgetting", title: "Forgetting", letter: "f", component: Forgetting },
  { path: "health", title: "Health", letter: "h", component: Health },
  { path: "things", title: "People and things", letter: "p", component: Things },
  { path: "claims", title: "Claims", letter: "l", component: Claims },
];

export const viewAt = (path: string): View | undefined => VIEWS.find((view) => view.path === path);
