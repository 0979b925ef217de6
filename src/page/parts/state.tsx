import type { VNode } from "preact";
import type { Node } from "../client/types.gen.ts";
import { t } from "../language/texts.ts";

type LifecycleState = Node["lifecycle_state"];

/** The shape of a state, which tells it without colour: disc, ring, diamond, bars, cross. */
export function StateShape({ of, size = 10 }: { of: LifecycleState; size?: number }): VNode {
  return (
    <svg width={size} height={size} viewBox="0 0 10 10" aria-hidden="true">
      {shape(of)}
    </svg>
  );
}

function shape(state: LifecycleState): VNode {
  switch (state) {
    case "stable":
      return <circle class="f-good" cx="5" cy="5" r="4.5" />;
    case "tentative":
      return <circle class="s-edge hollow" cx="5" cy="5" r="3.8" stroke-width="1.5" />;
    case "contested":
      return <path class="f-clash" d="M5 0 10 5 5 10 0 5z" />;
    case "superseded":
      return <path class="s-edge" d="M0 3.5h10M0 6.5h6" stroke-width="1.8" />;
    case "deprecated":
      return <path class="s-edge" d="M1.5 1.5l7 7M8.5 1.5l-7 7" stroke-width="1.6" />;
    case "archived":
      return <path class="s-edge hollow" d="M1 2.5h8v6H1zM3.5 5h3" stroke-width="1.3" />;
  }
}

/** A state with its shape and its word. */
export function State({ of }: { of: LifecycleState }): VNode {
  return (
    <span class={`state ${of}`}>
      <StateShape of={of} />
      {t.words.state[of]}
    </span>
  );
}
