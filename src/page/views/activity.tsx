import type { VNode } from "preact";
import { hrefOf, withQuery } from "../data/place.ts";
import { useQuery } from "../data/query.ts";
import { t } from "../language/texts.ts";
import { date } from "../parts/format.ts";
import { JsonButton } from "../parts/json-button.tsx";
import { useRowSteps } from "../parts/row-focus.ts";
import { Answer, Box } from "../parts/states.tsx";
import { Choices } from "./activity/choices.tsx";
import { Days } from "./activity/days.tsx";
import { type Happened, readHappened, type Wanted, wanted } from "./activity/happened.ts";

/** Which assistant asked and changed what? */
export function Activity(): VNode {
  const of = wanted();
  const query = useQuery(`activity ${JSON.stringify(of)}`, (userId) => readHappened(of, userId));
  useRowSteps();
  return (
    <>
      <div class="title">
        <h1 class="ttl">
          {query.data === undefined ? t.frame.view.activity : titleOf(query.data)}
        </h1>
        {query.data !== undefined && <JsonButton data={query.data} path={pathOf(of)} />}
      </div>
      <div class="two">
        <div>
          <Answer of={query}>
            {({ entries, next }) => (
              <>
                {entries.length === 0 ? <Nothing of={of} /> : <Days entries={entries} />}
                <p class="run">
                  {of.until !== undefined && (
                    <a class="btn" href={withQuery({ until: undefined })}>
                      {t.activity.newest}
                    </a>
                  )}
                  {next !== undefined && (
                    <a class="btn" href={withQuery({ until: next })}>
                      {t.activity.older}
                    </a>
                  )}
                </p>
              </>
            )}
          </Answer>
        </div>
        <aside class="aside" aria-label={t.activity.show}>
          <Choices of={of} entries={query.data?.entries ?? []} />
          <p class="small">
            <a class="link" href={hrefOf("")}>
              {t.activity.stored}
            </a>
          </p>
        </aside>
      </div>
    </>
  );
}

function titleOf({ entries, next }: Happened): string {
  const questions = entries.filter((entry) => "question" in entry).length;
  const first = entries.at(-1);
  const counts = t.activity.title(questions, entries.length - questions);
  return next === undefined || first === undefined
    ? counts
    : `${counts} ${t.activity.since(date(first.at))}`;
}

function Nothing({ of: { kind, who } }: { of: Wanted }): VNode {
  const isFiltered = kind !== "all" || who !== undefined;
  return (
    <Box title={isFiltered ? t.activity.noneFiltered : t.activity.none}>
      <p>{t.activity.noneText}</p>
    </Box>
  );
}

/** Of the questions; changes have a path of their own. */
function pathOf({ kind, until }: Wanted): string {
  const route = kind === "changes" ? "operations" : "retrievals";
  const params = new URLSearchParams(until === undefined ? {} : { time_to: until });
  return `/v1/${route}?${params}`;
}
