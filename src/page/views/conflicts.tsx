import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { hrefOf } from "../data/place.ts";
import { t } from "../language/texts.ts";
import { Button, Head } from "../parts/controls.tsx";
import { useKeys } from "../parts/keys.ts";
import { Answer, Box } from "../parts/states.tsx";
import { useContradictions } from "./conflicts/open.ts";
import { Writing } from "./conflicts/write.tsx";
import { notedBy, Pair } from "./memory/versus.tsx";

/** What has to be decided: pairs of which not both can be true, the oldest first, one at a time. */
export function Conflicts(): VNode {
  const query = useContradictions();
  const [at, setAt] = useState(0);
  const count = query.data?.contradictions.length ?? 0;
  const move = (by: number): void => {
    if (count > 0) setAt((now) => (Math.min(now, count - 1) + by + count) % count);
  };
  useKeys([
    { keys: "j", text: t.keys.next, run: () => move(1) },
    { keys: "k", text: t.keys.before, run: () => move(-1) },
    { keys: "s", text: t.conflicts.later, run: () => move(1) },
  ]);
  return (
    <>
      <h1 class="ttl">{t.frame.view.conflicts}</h1>
      <Writing />
      <Answer of={query}>
        {({ contradictions, has_more }) => {
          const shown = Math.min(at, contradictions.length - 1);
          const pair = contradictions[shown];
          if (pair === undefined) {
            return (
              <Box title={t.conflicts.none}>
                <p>{t.conflicts.noneText}</p>
              </Box>
            );
          }
          return (
            <section class="sect" key={pair.edge_id}>
              <Head
                title={t.conflicts.place(shown + 1, contradictions.length, has_more)}
                note={notedBy(pair)}
                end={
                  <>
                    <a href={hrefOf("memory", pair.node_a.id)}>{t.conflicts.open}</a>
                    <Button kind="quiet" keyName="s" onClick={() => move(1)}>
                      {t.conflicts.later}
                    </Button>
                  </>
                }
              />
              <Pair left={pair.node_a} right={pair.node_b} />
            </section>
          );
        }}
      </Answer>
    </>
  );
}
