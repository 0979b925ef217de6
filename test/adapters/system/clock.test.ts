import { expect, test } from "bun:test";
import {
  createSystemClock,
  systemLanguage,
  systemUserName,
} from "../../../src/adapters/system/system.ts";
import { toEpochMillis } from "../../../src/lib/instant.ts";

test("gives ever later instants close to the system's time", () => {
  const clock = createSystemClock();
  const instants = Array.from({ length: 5000 }, () => clock.now());
  expect(instants).toEqual([...new Set(instants)].sort());
  expect(Math.abs(toEpochMillis(clock.now()) - Date.now())).toBeLessThan(100);
});

test("takes what lies below the millisecond from the steady clock", () => {
  let steady = 10;
  const clock = createSystemClock({ wallMs: () => 1_700_000_000_000, steadyMs: () => steady });
  expect(clock.now()).toEndWith(".000000Z");
  steady = 10.25;
  expect(clock.now()).toEndWith(".000250Z");
});

test("never goes back when the system's clock is set back", () => {
  let wall = 1_700_000_000_000;
  const clock = createSystemClock({ wallMs: () => wall, steadyMs: () => 5 });
  const before = clock.now();
  wall -= 3_600_000;
  const after = clock.now();
  expect(after > before).toBeTrue();
  expect(toEpochMillis(after) - toEpochMillis(before)).toBeLessThan(1);
});

test("follows the system's clock after the machine has slept", () => {
  let wall = 1_700_000_000_000;
  const clock = createSystemClock({ wallMs: () => wall, steadyMs: () => 5 });
  clock.now();
  wall += 7_200_000;
  expect(toEpochMillis(clock.now())).toBe(wall);
});

test.each([
  ["en", {}],
  ["en", { LANG: "C" }],
  ["en", { LANG: "C.UTF-8" }],
  ["en", { LC_ALL: "POSIX", LANG: "de_DE.UTF-8" }],
  ["en", { LANG: "en_GB.UTF-8" }],
  ["de", { LANG: "de_DE.UTF-8@euro" }],
  ["de", { LANG: "de" }],
  ["fr", { LC_MESSAGES: "fr_FR", LANG: "en_US.UTF-8" }],
  ["en", { LC_ALL: "en_US.UTF-8", LC_MESSAGES: "fr_FR", LANG: "fr_FR" }],
  ["it", { LC_ALL: "", LANG: "it_IT" }],
  ["fil", { LANG: "fil_PH.UTF-8" }],
  ["en", { LANG: "../../etc" }],
])("the language of the system is %s with %j", (language, environment) => {
  expect(systemLanguage(environment)).toBe(language);
});

const listed = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();

test("the user of the system is named by the session, or by the list of users", () => {
  expect(systemUserName({ USER: "anna", LOGNAME: "bob" })).toBe("anna");
  expect(systemUserName({ USER: " ", LOGNAME: "bob" })).toBe("bob");
  expect(systemUserName({ USERNAME: " carl " })).toBe("carl");
  expect(systemUserName({ USER: "\ud800" })).toBe(listed);
  expect(systemUserName({})).toBe(listed);
});

test("who is in no list of users is called me", () => {
  expect(systemUserName({}, "/dev/null")).toBe("me");
  expect(systemUserName({}, "/no/such/list")).toBe("me");
});
