import type { VNode } from "preact";
import type { Node } from "../../client/types.gen.ts";
import type { CallFailure } from "../../data/failure.ts";
import { t } from "../../language/texts.ts";
import { Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";

type Props = {
  readonly of: CallFailure;
  /** The memory as it is now; undefined while that is not known. */
  readonly now?: Node | undefined;
};

/** A change that was refused: why, what the memory has become meanwhile, and that nothing is lost. */
export function Refused({ of, now }: Props): VNode {
  const { refused } = t.memory;
  return (
    <Warning title={t.states.refused} code={t.states.code(of.status, of.code)}>
      {now !== undefined && `${refused.now(t.words.state[now.lifecycle_state])} `}
      <Text of={of.message} /> {refused.none}
    </Warning>
  );
}
