import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startScripted } from "../../adapters/language-model/scripted-provider.ts";
import { leftOut } from "../../left-out.ts";
import { emptyDatabase } from "../../packs/stores.ts";
import { dropDatabase, NO_POSTGRES } from "../../postgres/databases.ts";
import { until } from "../../until.ts";
import { NO_FFMPEG, picture, writePictures, writeVideo } from "./pictures.ts";
import { createWordDesk, type Desk, type Outcome } from "./run-svc.ts";
import { startVisionServer, type Turn, type VisionServer } from "./vision-server.ts";

// Each test starts the program, which starts another one for each file.
setDefaultTimeout(180_000);

const OWNER = ["--user-id", "ada"];
const TAKEN = "2026-03-01T10:00:00Z";

let desk: Desk;
let packs = 0;
beforeAll(async () => {
  desk = createWordDesk();
  expect((await desk.run(["init", "empty.pack", "--plain"])).code).toBe(0);
});
afterAll(() => desk.remove());

type Report = Readonly<Record<string, unknown>> & {
  readonly source: string;
  readonly error?: string;
  readonly skipped?: string;
  readonly event_ids: readonly string[];
};

function newPack(): string {
  packs += 1;
  const name = `p${packs}.pack`;
  cpSync(join(desk.folder, "empty.pack"), join(desk.folder, name));
  return name;
}

/** @param files in the folder of the desk, each another photo */
function photos(...files: readonly string[]): readonly string[] {
  writePictures(files.map((file) => join(desk.folder, file)));
  return files;
}

function observe(
  { url }: Pick<VisionServer, "url">,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const settings = { SVC_VISION__BASE_URL: url, SVC_VISION__TIMEOUT: "60", ...env };
  return desk.run(["observe", ...args, ...OWNER], { env: settings });
}

async function reports(...call: Parameters<typeof observe>): Promise<readonly Report[]> {
  const [server, args, env] = call;
  const { stdout } = await observe(server, [...args, "--format", "json"], env);
  return JSON.parse(stdout);
}

async function contents(pack: string): Promise<readonly string[]> {
  const engine = await desk.engine(pack);
  const nodes = await engine.queryNodes({ userId: "ada", limit: 100 });
  await engine.close();
  return nodes.map(({ content }) => content).sort();
}

/** A line of a table that counts one picture. */
const PICTURES_1 = /^Pictures?(?: count)? +1$/m;

const says = (text: string): Turn => ({ say: "text", text });

describe("svc observe", () => {
  test("prints what it did with a photo, and the second time that nothing was missing", async () => {
    await using server = await startVisionServer([says('A receipt. It reads "Lunch 12.50".')]);
    const pack = newPack();
    photos("lunch.png");
    const args = [pack, "lunch.png", "--captured-at", TAKEN];
    const first = await observe(server, args);
    const host = new URL(server.url).host;
    const [id = ""] = /[0-9a-f-]{36}/.exec(first.stdout) ?? [];
    expect({ ...first, stdout: first.stdout.replace(id, "EVENT") }).toEqual({
      code: 0,
      stderr: `Pictures are shown to qwen3.5:9b (ollama, ${host}).\n`,
      stdout: `lunch.png: photo, ollama/qwen3.5:9b, prompt 2
  Capture clock     2026-03-01T10:00:00.000000Z (given)
  Frames sampled    1
  Keyframes         1
  Described         1
  Repeats dropped   0
  Already observed  0
  Admitted          1 (stored as notes)
  Failed            0
  EVENT  A receipt. It reads "Lunch 12.50".
`,
    });
    const second = await observe(server, args);
    expect(second.stdout).toBe(
      first.stdout
        .replace("Described         1", "Described         0")
        .replace("Already observed  0", "Already observed  1")
        .replace("1 (stored as notes)", "0")
        .replace(/ {2}[0-9a-f-]{36}.*\n/, ""),
    );
    expect([second.code, await server.asked()]).toEqual([0, 1]);
  });

  test("prints the whole report as JSON", async () => {
    await using server = await startVisionServer([says("A wall.")]);
    const pack = newPack();
    photos("wall.png");
    const { code, stdout } = await observe(server, [
      ...[pack, "wall.png", "--captured-at", TAKEN, "--session-id", "s", "--scope", "project"],
      ...["--model", "moondream", "--no-thumbnails", "--no-extract", "--format", "json"],
    ]);
    expect(code).toBe(0);
    const timeless = stdout.replace(/("\w+_seconds": )[\d.]+/g, "$1SECONDS");
    const [{ source_sha256: sha256, event_ids: ids }] = JSON.parse(stdout);
    expect(timeless).toBe(`[
  {
    "source": "wall.png",
    "kind": "photo",
    "source_path": "${join(desk.folder, "wall.png")}",
    "source_sha256": "${sha256}",
    "captured_at": "2026-03-01T10:00:00.000000Z",
    "capture_clock": "given",
    "vision_model": "ollama/moondream",
    "describe_prompt_version": 2,
    "extract": false,
    "frames": 1,
    "keyframes": 1,
    "described": 1,
    "repeats_dropped": 0,
    "already_observed": 0,
    "admitted": 1,
    "failed": 0,
    "event_ids": [
      "${ids[0]}"
    ],
    "keyframe_log": [
      {
        "index": 0,
        "time_s": null,
        "change": null,
        "kept": true,
        "reason": "first"
      }
    ],
    "observations": [
      {
        "index": 0,
        "time_s": null,
        "frame_sha256": "${sha256}",
        "change": null,
        "kept_reason": "first",
        "status": "admitted",
        "similarity": null,
        "event_id": "${ids[0]}",
        "event_time": "2026-03-01T10:00:00.000000Z",
        "extraction": null,
        "error": null,
        "description": "A wall.",
        "describe_seconds": SECONDS,
        "admit_seconds": SECONDS
      }
    ]
  }
]
`);
    const engine = await desk.engine(pack);
    const event = await engine.getEvent(ids[0], "ada");
    await engine.close();
    expect(event).toMatchObject({ sessionId: "s", scope: "project", role: "tool" });
    expect(event?.metadata).toMatchObject({ thumbnail: null, source_sha256: sha256 });
  });

  test("finds a description again, with its source", async () => {
    await using server = await startVisionServer([says("A ginger cat sleeps on a piano.")]);
    const pack = newPack();
    photos("cat.png");
    await observe(server, [pack, "cat.png"]);
    const { stdout } = await desk.run([
      "search",
      pack,
      "where did the cat sleep?",
      ...OWNER,
      "--format",
      "json",
    ]);
    const { results } = JSON.parse(stdout);
    const found = { content: "A ginger cat sleeps on a piano.", source: 'from photo "cat.png"' };
    expect(results[0]).toMatchObject(found);
    const table = await desk.run(["search", pack, "where did the cat sleep?", ...OWNER]);
    expect(table.stdout).toContain(`(${found.source}) A ginger cat`);
    const shown = await desk.run(["show", pack, results[0].node_id, ...OWNER]);
    expect(shown.stdout).toContain("cat.png");
  });

  test("takes a time without an offset as local time", async () => {
    await using server = await startVisionServer();
    photos("tz.png");
    const args = [newPack(), "tz.png", "--captured-at", "2026-07-01 10:00"];
    const [report] = await reports(server, args, { TZ: "Europe/Berlin" });
    expect(report?.["captured_at"]).toBe("2026-07-01T08:00:00.000000Z");
    const wrong = await observe(server, [...args.slice(0, 3), "someday"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--captured-at")]);
  });
});

describe("a folder", () => {
  test("is gone through by name, with its folders; links and other files are listed as skipped", async () => {
    await using server = await startVisionServer();
    const pack = newPack();
    photos("album/b.png", "album/a/z.png", "album/A.PNG", "album/no-suffix", "elsewhere/x.png");
    const album = (name: string) => join(desk.folder, "album", name);
    writeFileSync(album("notes.txt"), "hello");
    writeFileSync(album("empty.jpg"), "");
    mkdirSync(album("c"));
    symlinkSync("../elsewhere", album("linked"));
    symlinkSync("b.png", album("link.png"));
    symlinkSync("..", album("c/loop"));
    const told = await reports(server, [pack, "album"]);
    expect(
      told.map(({ source, skipped, error }) => [source, skipped ?? error?.split(":")[0]]),
    ).toEqual([
      ["A.PNG", undefined],
      ["z.png", undefined],
      ["b.png", undefined],
      ["album/c/loop", "a link"],
      ["album/empty.jpg", "UnsupportedSourceError"],
      ["album/link.png", "a link"],
      ["album/linked", "a link"],
      ["no-suffix", undefined],
      ["album/notes.txt", "no photo or video"],
    ]);
    const { code, stdout, stderr } = await observe(server, [pack, "album"]);
    expect(code).toBe(1);
    expect(stdout).toContain("Skipped: album/notes.txt (no photo or video)\n");
    expect(stderr).toContain("Error: album/empty.jpg: ");
    expect(await server.asked()).toBe(4);
  });

  test("may hold any name: none steers the terminal, and the longest is stored", async () => {
    await using server = await startVisionServer();
    const pack = newPack();
    const names = [
      "new\nline.png",
      "\x1b[31mred\x9b.png",
      "\u202ereversed.png",
      `${"é".repeat(125)}.png`,
    ];
    photos(...names.map((name) => join("odd", name)));
    writeFileSync(
      Buffer.concat([
        Buffer.from(join(desk.folder, "odd", "bad")),
        Buffer.from([0xff]),
        Buffer.from(".png"),
      ]),
      picture(9),
    );
    const { code, stdout, stderr } = await observe(server, [pack, "odd", "x".repeat(300)]);
    expect(code).toBe(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is about them
    expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    for (const shown of ["new\\nline.png", "\\u001b[31mred\\u009b.png", "\\u202ereversed.png"]) {
      expect(stdout).toContain(`odd/${shown}: photo`);
    }
    expect(stdout).toContain("has no readable name");
    expect(stderr).toContain("there is no such file");
    expect((await contents(pack)).length).toBe(4);
  });

  test("without a photo is nothing to observe", async () => {
    await using server = await startVisionServer();
    mkdirSync(join(desk.folder, "bare"));
    const pack = newPack();
    expect(await reports(server, [pack, "bare"])).toEqual([]);
    const { code, stderr } = await observe(server, [pack, "bare"]);
    expect([code, stderr]).toEqual([0, "No photo or video was found.\n"]);
  });
});

describe("a model", () => {
  test("that fails with 500 fails its file, nothing of which is stored; the next one is tried", async () => {
    // Lost connections and 5xx are tried three times.
    const turn = { say: "status", status: 500 } as const;
    await using server = await startVisionServer([turn, turn, turn, says("A wall.")]);
    const pack = newPack();
    photos("one.png", "two.png");
    const { code, stdout, stderr } = await observe(server, [pack, "one.png", "two.png"]);
    expect(code).toBe(1);
    expect(stderr).toContain("Error: one.png: ended before its time, with 0 of 1 frames stored: ");
    expect(stderr).toContain("has a problem (status 500)");
    expect(stdout).toContain("two.png: photo");
    expect(await contents(pack)).toEqual(["A wall."]);
  });

  test("that is unknown ends the run: it would be unknown for every file", async () => {
    await using server = await startVisionServer([{ say: "status", status: 404 }]);
    const pack = newPack();
    photos("one.png", "two.png", "three.png");
    const { code, stderr } = await observe(server, [pack, "one.png", "two.png", "three.png"]);
    expect(code).toBe(1);
    expect(stderr).toContain("does not know the model");
    expect(stderr).toContain("; get it with: ollama pull qwen3.5:9b\n");
    expect(stderr).toContain("Not tried: 2 more, which would fail in the same way.");
    expect([await server.asked(), await contents(pack)]).toEqual([1, []]);
  });

  test("that is nowhere ends the run, and says where it was looked for", async () => {
    const server = await startVisionServer();
    await server.stop();
    const pack = newPack();
    photos("one.png", "two.png");
    const short = { SVC_VISION__TIMEOUT: "1" };
    const { code, stdout, stderr } = await observe(server, [pack, "one.png", "two.png"], short);
    expect(code).toBe(1);
    expect(stderr.split("cannot be reached")).toHaveLength(2);
    expect(stdout).toMatch(/^ {2}failed$/m);
    expect(stdout).not.toContain("cannot be reached");
    expect(stderr).toContain(
      `(${new URL(server.url).host}); start it with: ollama serve, or set SVC_VISION__BASE_URL`,
    );
    expect(stderr).toContain("Not tried: 1 more");
    expect(await contents(pack)).toEqual([]);
  });

  test("of a provider needs its key, and one of its own", async () => {
    photos("one.png");
    const pack = newPack();
    const hosted = ["observe", pack, "one.png", "--provider", "openai", ...OWNER];
    const nameless = await desk.run(hosted);
    expect([nameless.code, nameless.stderr]).toEqual([
      2,
      expect.stringContaining("SVC_VISION__MODEL"),
    ]);
    const keyless = await desk.run([...hosted, "--model", "gpt-4o"]);
    expect([keyless.code, keyless.stderr]).toEqual([
      1,
      expect.stringContaining("openai needs a key"),
    ]);
    expect(keyless.stderr).toContain("Pictures are shown to gpt-4o (openai, api.openai.com).");
    expect(await contents(pack)).toEqual([]);
  });
});

describe.skipIf(NO_FFMPEG !== undefined)(`a video${leftOut(NO_FFMPEG)}`, () => {
  test("is observed by its frames, each at its second", async () => {
    await using server = await startVisionServer();
    const pack = newPack();
    writeVideo(join(desk.folder, "walk.mp4"), 4);
    const [report] = await reports(server, [pack, "walk.mp4", "--captured-at", TAKEN]);
    expect(report).toMatchObject({ kind: "video", frames: 4, failed: 0 });
    expect(report?.event_ids).toHaveLength(Number(report?.["keyframes"]));
    const times = JSON.stringify(report?.["observations"]).match(/"event_time":"[^"]+"/g);
    expect(times?.[0]).toBe('"event_time":"2026-03-01T10:00:00.000000Z"');
    expect(times?.[1]).toMatch(/10:00:0[1-3]\.000000Z/);
    expect((await reports(server, [pack, "walk.mp4"]))[0]).toMatchObject({
      admitted: 0,
      described: 0,
    });
  });

  test("without ffmpeg on the PATH fails by the name of what is missing; photos are observed", async () => {
    await using server = await startVisionServer();
    const pack = newPack();
    writeVideo(join(desk.folder, "film.mp4"), 1);
    photos("still.png");
    const env = { PATH: join(desk.folder, "album") };
    const { code, stdout, stderr } = await observe(server, [pack, "film.mp4", "still.png"], env);
    expect(code).toBe(1);
    expect(stderr).toContain("Error: film.mp4: cannot be observed: videos need ffmpeg");
    expect(stdout).toContain("still.png: photo");
  });
});

describe("a pack", () => {
  test("is not opened with a wrong passphrase, and no picture is shown to anybody", async () => {
    await using server = await startVisionServer();
    photos("one.png");
    const made = await desk.run([
      "init",
      "sealed.pack",
      "--encryption-key",
      "the right passphrase, long",
    ]);
    expect(made.code).toBe(0);
    const args = ["sealed.pack", "one.png", "--encryption-key", "a wrong one"];
    const { code, stdout } = await observe(server, args);
    expect([code, stdout, await server.asked()]).toEqual([2, "", 0]);
    const right = await observe(server, [...args.slice(0, 3), "the right passphrase, long"]);
    expect(right.code).toBe(0);
  });

  test("that nobody may write is refused before the model is asked", async () => {
    await using server = await startVisionServer();
    const pack = newPack();
    photos("one.png");
    chmodSync(join(desk.folder, pack), 0o400);
    const { code, stderr } = await observe(server, [pack, "one.png"]);
    chmodSync(join(desk.folder, pack), 0o600);
    expect([code, stderr, await server.asked()]).toEqual([2, expect.any(String), 0]);
  });

  test("takes two runs at once, which store every photo once", async () => {
    await using server = await startVisionServer([{ say: "slowly", ms: 50 }]);
    const pack = newPack();
    const names = Array.from({ length: 6 }, (_, number) => `both/${number}.png`);
    photos(...names);
    const runs = await Promise.all([1, 2].map(() => reports(server, [pack, "both"])));
    const done = runs
      .flat()
      .map((report) => Number(report["admitted"]) + Number(report["already_observed"]));
    expect(done).toEqual(Array(12).fill(1));
    expect(new Set(runs.flat().flatMap(({ event_ids: ids }) => ids)).size).toBe(6);
    expect(await contents(pack)).toHaveLength(6);
  });

  test.skipIf(NO_POSTGRES !== undefined)(
    `may be a database, which knows what was observed before it was moved there${leftOut(NO_POSTGRES)}`,
    async () => {
      await using server = await startVisionServer([{ say: "slowly", ms: 50 }]);
      const pack = newPack();
      const url = await emptyDatabase();
      try {
        photos("one.png", "two.png");
        const first = await reports(server, [pack, "one.png"]);
        const migrated = await desk.run(["migrate", pack, url]);
        expect([migrated.code, migrated.stdout]).toEqual([0, expect.stringMatching(PICTURES_1)]);
        const moved = await reports(server, [url, "one.png", "two.png"]);
        const again = await reports(server, [url, "one.png", "two.png"]);
        const admitted = [first, moved, again].map((told) => told.map((one) => one["admitted"]));
        expect(admitted).toEqual([[1], [0, 1], [0, 0]]);
        photos("db/1.png", "db/2.png", "db/3.png", "db/4.png", "db/5.png", "db/6.png");
        const runs = await Promise.all([1, 2].map(() => reports(server, [url, "db"])));
        // The first two are the photos from above.
        const ids = runs.flat().flatMap(({ event_ids: some }) => some);
        expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
        expect(runs.flat().filter(({ error }) => error !== undefined)).toEqual([]);
      } finally {
        await dropDatabase(new URL(url).pathname.slice(1));
      }
    },
  );
});

test("claims are extracted from a description where extraction is on, unless the option says no", async () => {
  await using server = await startVisionServer([says("A postcard. Clara moved to Faro.")]);
  const extraction = startScripted();
  try {
    const env = {
      SVC_EXTRACTION__PROVIDER: "openai",
      SVC_EXTRACTION__BASE_URL: `${extraction.url}/v1`,
      SVC_EXTRACTION__API_KEY: "sk-albatross",
    };
    const pack = newPack();
    photos("card.png", "other.png");
    const { stdout } = await observe(server, [pack, "card.png"], env);
    expect(stdout).toContain("Admitted          1 (extracted)");
    const facts = await desk.run(["list", pack, "--type", "fact", ...OWNER]);
    expect(facts.stdout).toContain("Clara moved to Faro.");
    const plain = await observe(server, [pack, "other.png", "--no-extract"], env);
    expect(plain.stdout).toContain("Admitted          1 (stored as notes)");
    expect(extraction.asked).toHaveLength(1);
  } finally {
    extraction.stop();
  }
});

test("Ctrl-C ends it with what was stored, and the same command goes on", async () => {
  await using server = await startVisionServer([
    { say: "picture" },
    { say: "picture" },
    { say: "nothing" },
  ]);
  const pack = newPack();
  photos("c1.png", "c2.png", "c3.png");
  const files = ["c1.png", "c2.png", "c3.png"];
  const child = desk.start(["observe", pack, ...files, ...OWNER], {
    SVC_VISION__BASE_URL: server.url,
  });
  await until(async () => (await server.asked()) === 3);
  child.kill("SIGINT");
  const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  expect(code).toBe(130);
  expect(stderr).toContain(
    "Interrupted; 2 descriptions were stored. The same command observes what is missing.",
  );
  expect(await contents(pack)).toHaveLength(2);
  await using other = await startVisionServer();
  const told = await reports(other, [pack, ...files]);
  expect(told.map(({ admitted }) => admitted)).toEqual([0, 0, 1]);
});

test("import says how many pictures came with an export", async () => {
  await using server = await startVisionServer([says("A lamp.")]);
  const pack = newPack();
  photos("lamp.png");
  expect((await observe(server, [pack, "lamp.png"])).code).toBe(0);
  expect((await desk.run(["export", pack, "--output", "lamp.jsonl"])).code).toBe(0);
  const { code, stdout } = await desk.run(["import", "lamp.jsonl", "lamp.pack", "--plain"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(PICTURES_1)]);
});

test("svc doctor says who is shown pictures, and what videos need", async () => {
  const pack = newPack();
  const doctor = async (env: Readonly<Record<string, string>>) => {
    const { stdout } = await desk.run(["doctor", pack, "--format", "json"], { env });
    const { checks }: { checks: { name: string; status: string; message: string }[] } =
      JSON.parse(stdout);
    return checks.find(({ name }) => name === "vision");
  };
  const on = { SVC_VISION__ENABLED: "true" };
  expect(await doctor({})).toBeUndefined();
  expect((await doctor(on))?.message).toStartWith(
    "pictures are shown to qwen3.5:9b (ollama, localhost:11434)",
  );
  const bare = await doctor({ ...on, PATH: join(desk.folder, "nothing") });
  expect([bare?.status, bare?.message]).toEqual([
    "warn",
    expect.stringContaining("ffmpeg and ffprobe"),
  ]);
  const keyless = { ...on, SVC_VISION__PROVIDER: "openai", SVC_VISION__MODEL: "gpt-4o" };
  expect(await doctor(keyless)).toMatchObject({
    status: "fail",
    message: expect.stringContaining("SVC_VISION__API_KEY"),
  });
  await using server = await startVisionServer([{ say: "status", status: 404 }]);
  const args = ["doctor", pack, "--verify-extraction", "--format", "json"];
  const { stdout } = await desk.run(args, { env: { ...on, SVC_VISION__BASE_URL: server.url } });
  expect(stdout).toContain('"vision provider"');
  expect(stdout).toContain("does not know the model");
});
