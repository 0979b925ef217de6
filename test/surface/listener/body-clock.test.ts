import { expect, test } from "bun:test";
import { startBodyClock } from "../../../src/surface/listener/body.ts";

const HOUR = 3_600_000;

test("who sends too little in one stretch of time is late, however much came before", async () => {
  const clock = startBodyClock({ timeoutMs: HOUR, paceMs: 50 });
  clock.heard(10_000_000);
  expect(await clock.late).toBe("pace");
  clock.end();
});

test("who sends enough is late at the end of all time", async () => {
  const clock = startBodyClock({ timeoutMs: 100, paceMs: 25 });
  const sending = setInterval(() => clock.heard(10_000), 1);
  expect(await clock.late).toBe("timeout");
  clearInterval(sending);
  clock.end();
});

test("time in which the caller waits does not count", async () => {
  const clock = startBodyClock({ timeoutMs: 50, paceMs: 50 });
  const work = Bun.sleep(300).then(() => "done" as const);
  const wait = clock.pauseFor(work.then(() => undefined));
  expect(await Promise.race([clock.late, work])).toBe("done");
  await wait;
  expect(await clock.late).toBe("timeout");
  clock.end();
});
