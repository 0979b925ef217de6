import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

const PACK = "memory.pack";
/** Every memory is old enough to become stable. */
const env = { SVC_ORGANIZER__PROMOTION_AGE_DAYS: "0", SVC_ORGANIZER__OPPORTUNISTIC_ENABLED: "off" };

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init", PACK, "--plain", "--owner", "anna"]);
  await desk.store(PACK, "anna", "Anna prefers tea");
});
afterAll(() => desk.remove());

const organize = (...args: readonly string[]) => desk.run(["organize", PACK, ...args], { env });

test("a dry run lists what would be changed and changes nothing", async () => {
  const first = await organize("--jobs", "promote", "--dry-run");
  const second = await organize("--jobs", "promote", "--dry-run");

  expect(first).toMatchObject({ code: 0, stderr: "" });
  const [heading, line] = first.stdout.trimEnd().split("\n").slice(-4);
  expect(heading).toMatch(/^MEMORY +CHANGE +JOB +OWNER +ID$/);
  expect(line).toMatch(/^Anna prefers tea +tentative -> stable +promote +anna +[0-9a-f]{6}$/);
  expect(second.stdout).toContain(line ?? "");
  expect(first.stdout).toEndWith("Nothing was changed. Without --dry-run: 1 change.\n");
});

test("a run shows each job with its counts, and what was skipped and why", async () => {
  const { code, stdout } = await organize("--jobs", "promote,centrality_boost");

  expect(code).toBe(0);
  expect(stdout).toMatch(/^Jobs run +promote$/m);
  expect(stdout).toMatch(/^Jobs skipped +centrality_boost \(unknown\)$/m);
  expect(stdout).toMatch(/^JOB +PROCESSED +MODIFIED +ERRORS +DURATION$/m);
  expect(stdout).toMatch(/^promote +1 +1 +0 +[\d.]+ ms$/m);
});

test("a run of which every job is unknown is refused by name", async () => {
  const { code, stdout, stderr } = await organize("--jobs", "centrality_boost,tidy");

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(
    "--jobs: names no job: centrality_boost, tidy; svc organize --help lists",
  );
});

test("svc show says what the organizer made of a memory, and svc explain too", async () => {
  const list = await desk.run(["list", PACK, "--format", "json"]);
  const [node] = JSON.parse(list.stdout).nodes;
  const shown = await desk.run(["show", PACK, node.id]);
  const asked = await desk.run(["search", PACK, "tea"], { env });
  const [, requestId = ""] = /svc explain (\S+)/.exec(asked.stderr) ?? [];

  const explained = await desk.run(["explain", requestId, "--db-path", PACK]);

  const words = /made stable \d{4}-.* by promote \(age and evidence\)/;
  expect(shown.stdout).toMatch(new RegExp(`^Organizer +${words.source}$`, "m"));
  expect(explained.stdout).toMatch(new RegExp(`^ +the organizer: ${words.source}$`, "m"));
});
test.each([
  { name: "without time every job is skipped", budget: "0", code: 0 },
  { name: "a budget that is no number is refused", budget: "NaN", code: 2 },
])("$name", async ({ budget, code }) => {
  const done = await organize("--jobs", "promote", "--budget-ms", budget);

  expect(done.code).toBe(code);
  if (code === 0) expect(done.stdout).toMatch(/^Jobs skipped +promote \(no_budget\)$/m);
  else expect(done.stderr).toContain('"NaN" is not a whole number');
});

test("a name that is no job is pointed out, and the help lists every job", async () => {
  const wrong = await organize("--jobs", "promote,nope");
  const { stdout } = await desk.run(["organize", "--help"]);
  const [, names = ""] = /^Jobs: ([\w, ]+)\.$/m.exec(stdout) ?? [];
  const all = await organize("--jobs", names.replaceAll(" ", ""), "--dry-run");

  expect(wrong).toMatchObject({ code: 0 });
  expect(wrong.stderr).toContain("There is no job nope; svc organize --help lists them.");
  expect(names.split(", ")).toHaveLength(11);
  expect(all.stdout).not.toContain("(unknown)");
  expect(all.stderr).toContain("SVC_ORGANIZER__EXTRACTIVE_SUMMARIES=true");
});

test("a dry run counts a memory once that two jobs would change", async () => {
  const twins = "twins.pack";
  await desk.run(["init", twins, "--plain", "--owner", "anna"]);
  for (const name of ["JavaScript", "javascript"]) {
    await desk.run(["store", twins, name, "--type", "entity"]);
  }

  const args = ["organize", twins, "--jobs", "deduplicate,alias_resolve", "--dry-run"];
  const { stdout } = await desk.run(args, { env });

  expect(stdout.match(/tentative -> superseded/g)).toHaveLength(2);
  expect(stdout).toEndWith("Nothing was changed. Without --dry-run: 1 change.\n");
});
