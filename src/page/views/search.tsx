import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { asFailure, type CallFailure } from "../data/failure.ts";
import { go, hrefOf } from "../data/place.ts";
import { useQuery } from "../data/query.ts";
import { question } from "../data/question.ts";
import { owner } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { Failure, Answer as Shown, Skeleton } from "../parts/states.tsx";
import { type Answer, ask, type Question, replay } from "./search/answer.ts";
import { AskBar, conditions } from "./search/ask-bar.tsx";
import { Explained } from "./search/explained.tsx";
import { Recent } from "./search/recent.tsx";

type Asked =
  | { readonly state: "asking" }
  | { readonly state: "done"; readonly answer: Answer }
  | { readonly state: "failed"; readonly failure: CallFailure };

/** Why this answer? A question of this tab, or one that an assistant asked, by the id of its receipt. */
export function Search({ id }: { id: string }): VNode {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  // An answer to an earlier question may come later.
  const latest = useRef(0);
  const send = async (query: string): Promise<void> => {
    setText(query);
    if (query.trim() === "") return;
    if (id !== "") go(hrefOf("search"), "replace");
    latest.current += 1;
    const turn = latest.current;
    const show = (outcome: Asked): void => {
      if (turn === latest.current) setAsked(outcome);
    };
    show({ state: "asking" });
    const whole: Question = { ...conditions.value, query };
    try {
      show({ state: "done", answer: await ask(whole, owner.peek() ?? "") });
    } catch (error) {
      show({ state: "failed", failure: asFailure(error) });
    }
  };
  useEffect(() => {
    const waiting = question.value;
    if (waiting === undefined) return;
    question.value = undefined;
    void send(waiting);
  }, [question.value]);
  return (
    <>
      <AskBar key={id} text={text} onAsk={send} />
      {id === "" ? <Own asked={asked} /> : <Former id={id} />}
    </>
  );
}

/** Where no answer is shown, which is its own heading. */
function Title(): VNode {
  return <h1 class="vh">{t.frame.view.search}</h1>;
}

/** What this tab has asked, else what assistants have. */
function Own({ asked }: { asked: Asked | undefined }): VNode {
  if (asked === undefined) return <Recent />;
  if (asked.state === "done") return <Explained answer={asked.answer} />;
  return (
    <>
      <Title />
      {asked.state === "asking" ? (
        <Skeleton label={t.search.asking} />
      ) : (
        <Failure of={asked.failure} />
      )}
    </>
  );
}

function Former({ id }: { id: string }): VNode {
  const query = useQuery(`replay ${id}`, (userId) => replay(id, userId));
  return (
    <>
      {query.data === undefined && <Title />}
      <Shown of={query} label={t.search.asking}>
        {(answer) => <Explained answer={answer} />}
      </Shown>
    </>
  );
}
