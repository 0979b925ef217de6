/**
 * Kills the built program with SIGKILL at moments of an observation, spread over the time that an undisturbed one takes, each on a new
 * pack. The next run observes what is missing: no frame is there twice, none is lost, and no thumbnail is without its event.
 *
 * The suite kills at 5 moments. At more:
 *   SVC_FAULT_ROUNDS=50 bun test test/fault/observe-kill.test.ts
 */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, svcCommand } from "../../scripts/bench/server.ts";
import { NO_FFMPEG, writePictures, writeVideo } from "../surface/cli/pictures.ts";
import { startVisionServer } from "../surface/cli/vision-server.ts";
import { until } from "../until.ts";
import { DISK } from "./disk-folder.ts";

const MOMENTS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 3);
const folder = mkdtempSync(join(DISK, "svc-observe-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { ...cleanEnvironment(), XDG_CONFIG_HOME: join(folder, ".config") };

function start(args: readonly string[], url: string) {
  return Bun.spawn([...svcCommand(), ...args], {
    cwd: folder,
    env: { ...environment, SVC_VISION__BASE_URL: url },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
}

const observing = (pack: string) => [
  "observe",
  pack,
  "album",
  "--user-id",
  "ada",
  "--format",
  "json",
];

/** What a finished run says of each file. */
async function observe(pack: string, url: string) {
  const child = start(observing(pack), url);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ code, stderr: stderr.replace(/^Pictures are shown.*\n/, "") }).toEqual({
    code: 0,
    stderr: "",
  });
  const reports: readonly { readonly admitted: number; readonly keyframes: number }[] =
    JSON.parse(stdout);
  const sum = (of: "admitted" | "keyframes") => reports.reduce((all, one) => all + one[of], 0);
  return { admitted: sum("admitted"), keyframes: sum("keyframes") };
}

/** What stands in a pack: frames by what makes them one, memories, thumbnails, and those that no event names. */
function standing(pack: string) {
  using database = new Database(join(folder, pack), { readonly: true });
  const count = (from: string): number => {
    return Number(database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()?.n);
  };
  return {
    events: count("events"),
    frames: count(
      "(SELECT DISTINCT metadata ->> '$.source_sha256', metadata ->> '$.frame_time_s' FROM events)",
    ),
    memories: count("nodes"),
    thumbnails: count("blobs"),
    orphans: count(
      "blobs WHERE key NOT IN (SELECT blob FROM blob_uses JOIN events ON events.key = event)",
    ),
  };
}

/** Lets a run go on until a moment. */
async function kill(pack: string, url: string, moment: Promise<unknown>): Promise<void> {
  const child = start(observing(pack), url);
  await Promise.race([moment, child.exited]);
  child.kill("SIGKILL");
  await child.exited;
}

test("a kill at any moment leaves each frame whole or absent, and the next run observes what is missing", async () => {
  await using server = await startVisionServer([{ say: "slowly", ms: 20 }]);
  const { url } = server;
  writePictures(["a.png", "b.png", "in/c.png"].map((name) => join(folder, "album", name)));
  if (NO_FFMPEG === undefined) writeVideo(join(folder, "album", "walk.mp4"), 3);
  expect(await start(["init", "template.pack", "--plain"], url).exited).toBe(0);
  const copy = (name: string): string => {
    cpSync(join(folder, "template.pack"), join(folder, name));
    return name;
  };
  const begun = performance.now();
  const { admitted, keyframes } = await observe(copy("whole.pack"), url);
  const lifeMs = performance.now() - begun;
  expect(admitted).toBe(keyframes);
  expect(admitted).toBeGreaterThanOrEqual(3);
  const whole = {
    events: admitted,
    frames: admitted,
    memories: admitted,
    thumbnails: admitted,
    orphans: 0,
  };
  expect(standing("whole.pack")).toEqual(whole);
  const left: number[] = [];
  // Some in the middle, or the moments say nothing.
  const isMiddle = (events: number): boolean => events > 0 && events < admitted;
  const isEnough = (moment: number): boolean =>
    moment >= MOMENTS && (left.some(isMiddle) || moment >= MOMENTS + 12);
  for (let moment = 0; !isEnough(moment); moment += 1) {
    const pack = copy(`killed-${moment}.pack`);
    // Where the machine has become faster than it was, the further moments follow from what is done.
    const begun = (await server.asked()) + 2;
    const isNow =
      moment < MOMENTS
        ? Bun.sleep((lifeMs * moment) / MOMENTS)
        : until(async () => (await server.asked()) >= begun).catch(() => undefined);
    await kill(pack, url, isNow);
    const { events, frames, thumbnails, orphans } = standing(pack);
    expect({ moment, frames, thumbnails, orphans }).toEqual({
      moment,
      frames: events,
      thumbnails: events,
      orphans: 0,
    });
    left.push(events);
    const rest = await observe(pack, url);
    expect({ moment, ...rest }).toEqual({ moment, admitted: admitted - events, keyframes });
    expect({ moment, ...standing(pack) }).toEqual({ moment, ...whole });
    rmSync(join(folder, pack));
  }
  expect(left.filter(isMiddle).length).toBeGreaterThan(0);
}, 900_000);
