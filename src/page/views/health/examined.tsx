import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Examination } from "../../client/types.gen.ts";
import { caller } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Button, Command, Head } from "../../parts/controls.tsx";
import { clockTime, bytes as shownBytes } from "../../parts/format.ts";
import { JsonButton } from "../../parts/json-button.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Skeleton, Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { commandsIn } from "./commands.ts";
import { examine, examined } from "./examine.ts";

/** A pack up to here is examined without being asked for it. */
const SMALL_BYTES = 100e6;

type Check = Examination["checks"][number];

/** What is wrong with the pack and its surroundings, and what helps. @param bytes of the pack, as far as they are known */
export function Examined({ bytes }: { bytes: number | undefined }): VNode {
  const { doctor } = t.health;
  const isOperator = caller.value?.is_operator === true;
  const { data, at, failure, isRunning } = examined.value;
  const isSmall = bytes !== undefined && bytes <= SMALL_BYTES;
  useEffect(() => {
    if (isOperator && isSmall && data === undefined) void examine();
  }, [isOperator, isSmall]);
  useKeys([
    {
      keys: "d",
      text: isOperator ? t.health.keys.examine : undefined,
      run: () => {
        if (isOperator) void examine();
      },
    },
  ]);
  return (
    <section class="sect">
      <Head
        title={doctor.title}
        note={at === undefined ? undefined : doctor.at(clockTime(at))}
        end={data === undefined ? undefined : <JsonButton data={data} path="/v1/doctor" />}
      />
      {!isOperator && (
        <>
          <p class="dim">{doctor.bound}</p>
          <Command>svc doctor</Command>
        </>
      )}
      {failure !== undefined && (
        <Warning title={doctor.failed} code={t.states.code(failure.status, failure.code)}>
          <Text of={failure.message} />
        </Warning>
      )}
      {data !== undefined && <Findings of={data} />}
      {isRunning && <Skeleton label={doctor.running} />}
      {isOperator && !isRunning && (
        <p class="run">
          <Button onClick={() => void examine()} keyName="d">
            {data === undefined ? doctor.run : doctor.again}
          </Button>
          {data === undefined && bytes !== undefined && !isSmall && (
            <span class="dim small">{doctor.large(shownBytes(bytes))}</span>
          )}
        </p>
      )}
    </section>
  );
}

const ORDER = ["fail", "warn"] as const;

/** What is wrong first; what passed can be unfolded. */
function Findings({ of: { checks } }: { of: Examination }): VNode {
  const bad = ORDER.flatMap((status) => checks.filter((check) => check.status === status));
  const passed = checks.filter(({ status }) => status === "ok");
  return (
    <>
      {bad.length > 0 && (
        <ul class="findings">
          {bad.map((check) => (
            <Finding key={check.name} of={check} />
          ))}
        </ul>
      )}
      <details class="passed">
        <summary>
          <span class="tri" aria-hidden="true">
            ›
          </span>
          <b>{t.health.doctor.passed(passed.length)}</b>
        </summary>
        <ul class="findings">
          {passed.map((check) => (
            <Finding key={check.name} of={check} />
          ))}
        </ul>
      </details>
    </>
  );
}

function Finding({ of: { name, status, message } }: { of: Check }): VNode {
  return (
    <li class={status === "ok" ? undefined : "todo"}>
      <StatusShape of={status} />
      <div>
        <b>{name}</b> <span class="vh">{t.health.doctor.status[status]}</span>
        <p class="dim">
          <Text of={message} />
        </p>
        {status !== "ok" &&
          commandsIn(message).map((command) => <Command key={command}>{command}</Command>)}
      </div>
    </li>
  );
}

/** Tells a status without colour: a tick, a diamond, a cross. */
function StatusShape({ of }: { of: Check["status"] }): VNode {
  return (
    <svg width="14" height="14" viewBox="0 0 10 10" aria-hidden="true">
      {of === "ok" && <path class="s-good hollow" d="M1.5 5.5 4 8l4.5-6" stroke-width="1.6" />}
      {of === "warn" && <path class="s-edge hollow" d="M5 1 9 5 5 9 1 5z" stroke-width="1.5" />}
      {of === "fail" && <path class="s-clash" d="M1.5 1.5l7 7M8.5 1.5l-7 7" stroke-width="1.8" />}
    </svg>
  );
}
