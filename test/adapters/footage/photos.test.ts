import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, realpathSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leftOut } from "../../left-out.ts";
import {
  chunk,
  colours,
  exif,
  exifSegment,
  folder,
  jpeg,
  makeVideo,
  NO_FFMPEG,
  openFootage,
  png,
  refusal,
  write,
} from "./samples.ts";

const place = folder();
afterAll(() => rmSync(place, { recursive: true }));

/** Left half red, right half blue. */
const FLAG = png(40, 20, (x) => (x < 20 ? [255, 0, 0] : [0, 0, 255]));

async function clockOf(file: string, content: Uint8Array): Promise<readonly string[]> {
  const path = write(join(place, file), content);
  utimesSync(path, 1_700_000_000, 1_700_000_000.25);
  const footage = await openFootage({ path });
  await footage.close();
  return [footage.capturedAt, footage.captureClock];
}

const TIME = { time: "2026:03:01 10:20:30" };
const OF_FILE = ["2023-11-14T22:13:20.250000Z", "file"];

describe("a photo", () => {
  test("is one frame that is kept, with the hash, the name and the place of its file", async () => {
    const path = write(join(place, "flag.png"), FLAG);
    symlinkSync(path, join(place, "link.PNG"));
    const footage = await openFootage({ path: join(place, "link.PNG") });
    const sha256 = createHash("sha256").update(FLAG).digest("hex");
    expect(footage).toMatchObject({
      kind: "photo",
      name: "link.PNG",
      path: realpathSync(path),
      sha256,
      frames: [{ index: 0, timeS: undefined, change: undefined, reason: "first" }],
    });
    const picture = await footage.picture(0);
    expect(picture).toMatchObject({ mediaType: "image/jpeg", sha256 });
    expect(await colours(picture.bytes, [5, 10], [35, 10])).toEqual(["255 0 0", "0 0 255"]);
    await footage.close();
  });

  test("of bytes is named by its hash, and its time is now", async () => {
    const before = new Date().toISOString();
    const footage = await openFootage({ bytes: FLAG });
    const sha256 = createHash("sha256").update(FLAG).digest("hex");
    expect(footage).toMatchObject({ name: `bytes:${sha256.slice(0, 12)}`, path: undefined });
    expect(footage.captureClock).toBe("now");
    expect(footage.capturedAt >= before.slice(0, 19)).toBe(true);
    await footage.close();
  });

  test("is shown and made small upright, whatever its orientation", async () => {
    for (const [orientation, first, last] of [
      [1, "255 0 0", "0 0 255"],
      [2, "0 0 255", "255 0 0"],
      [3, "0 0 255", "255 0 0"],
      [4, "255 0 0", "0 0 255"],
      [5, "255 0 0", "0 0 255"],
      [6, "255 0 0", "0 0 255"],
      [7, "0 0 255", "255 0 0"],
      [8, "0 0 255", "255 0 0"],
    ] as const) {
      const block = exif({ orientation });
      const asJpeg = await jpeg(FLAG, exifSegment(block));
      const asPng = png(40, 20, (x) => (x < 20 ? [255, 0, 0] : [0, 0, 255]), [
        chunk("eXIf", block),
      ]);
      for (const bytes of [asJpeg, asPng]) {
        const footage = await openFootage({ bytes });
        const { bytes: picture } = await footage.picture(0);
        const small = await footage.thumbnail(0, 20);
        const end: [number, number] = orientation < 5 ? [38, 10] : [10, 38];
        expect([orientation, ...(await colours(picture, [2, 2], end))]).toEqual([
          orientation,
          first,
          last,
        ]);
        const { width, height } = await new Bun.Image(small).metadata();
        expect([width, height]).toEqual(orientation < 5 ? [20, 10] : [10, 20]);
        await footage.close();
      }
    }
  });

  test("lies on white where it is transparent", async () => {
    const clear = png(16, 16, (x) => [0, 0, 0, x < 8 ? 0 : 255]);
    const webp = await new Bun.Image(clear).webp({ lossless: true }).bytes();
    for (const bytes of [clear, webp]) {
      const footage = await openFootage({ bytes });
      const { bytes: picture } = await footage.picture(0);
      expect(await colours(picture, [2, 8], [13, 8])).toEqual(["255 255 255", "0 0 0"]);
      await footage.close();
    }
  });

  test("is never enlarged, and shown no larger than 2048 pixels", async () => {
    const large = png(3000, 1000, () => [0, 200, 0]);
    const footage = await openFootage({ bytes: large });
    const sizes = [(await footage.picture(0)).bytes, await footage.thumbnail(0, 4000)];
    for (const bytes of sizes) {
      const { width, height } = await new Bun.Image(bytes).metadata();
      expect([width, height]).toEqual([2048, 683]);
    }
    await footage.close();
  });

  test("leaves no file with its picture, and forgets it when it is closed", async () => {
    const footage = await openFootage({ bytes: FLAG });
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`svc-frames-${process.pid}-`)),
    ).toEqual([]);
    await footage.close();
    await expect(footage.picture(0)).rejects.toThrow();
  });

  test.skipIf(NO_FFMPEG !== undefined)(
    `as TIFF is read by ffmpeg${leftOut(NO_FFMPEG)}`,
    async () => {
      const source = write(join(place, "source.png"), FLAG);
      const path = makeVideo(join(place, "flag.tiff"), ["-i", source]);
      const footage = await openFootage({ path });
      const { bytes } = await footage.picture(0);
      expect(await colours(bytes, [5, 10], [35, 10])).toEqual(["255 0 0", "0 0 255"]);
      await footage.close();
    },
  );

  test("that is a TIFF is refused where ffmpeg is missing, by name", async () => {
    const { createFootageReader } = await import("../../../src/adapters/footage/footage-reader.ts");
    const { createSystemClock } = await import("../../../src/adapters/system/system.ts");
    const reader = createFootageReader({ clock: createSystemClock(), environment: { PATH: "." } });
    const options = { fps: 1, frameWidth: 320, changeThreshold: 1, maxGapSeconds: 1 };
    const tiff = reader.open({ bytes: Buffer.from("II*\0rest", "latin1") }, options);
    if (process.platform === "linux")
      await expect(tiff).rejects.toThrow("TIFF needs ffmpeg, which is not installed");
    const video = reader.open({ bytes: Buffer.from("\0\0\0\x18ftypisom", "latin1") }, options);
    await expect(video).rejects.toThrow("videos need ffmpeg, which is not installed");
  });
});

/** Does something where the local time is that of New York. */
async function inNewYork(work: () => Promise<void>): Promise<void> {
  const zone = process.env.TZ;
  process.env.TZ = "America/New_York";
  try {
    await work();
  } finally {
    process.env.TZ = zone ?? "UTC";
  }
}

describe("the time of a photo", () => {
  test.each([
    {
      name: "with an offset",
      tags: { ...TIME, offset: "+02:00" },
      at: "2026-03-01T08:20:30.000000Z",
    },
    { name: "in UTC", tags: { ...TIME, offset: "Z" }, at: "2026-03-01T10:20:30.000000Z" },
  ])("$name is that moment, in every kind of file", async ({ tags, at }) => {
    const block = exif(tags);
    const webp = Buffer.from(await new Bun.Image(FLAG).webp().bytes());
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    const riff = Buffer.concat([
      webp,
      Buffer.from("EXIF"),
      size,
      block,
      Buffer.alloc(block.length % 2),
    ]);
    riff.writeUInt32LE(riff.length - 8, 4);
    await inNewYork(async () => {
      expect(await clockOf("a.jpg", await jpeg(FLAG, exifSegment(block)))).toEqual([at, "exif"]);
      const picture = png(4, 4, () => [1, 2, 3], [chunk("eXIf", block)]);
      expect(await clockOf("a.png", picture)).toEqual([at, "exif"]);
      expect(await clockOf("a.webp", riff)).toEqual([at, "exif"]);
    });
  });

  test.each([
    { name: "without an offset", offset: {} },
    { name: "with a bad offset", offset: { offset: "+2x:00" } },
    { name: "with an empty offset", offset: { offset: "" } },
  ])("$name is the local time of that date, by the rules of summer and winter", ({ offset }) =>
    inNewYork(async () => {
      for (const [date, at] of [
        ["2026:03:01 10:20:30", "2026-03-01T15:20:30.000000Z"],
        ["2026:07:01 10:20:30", "2026-07-01T14:20:30.000000Z"],
      ] as const) {
        const content = await jpeg(FLAG, exifSegment(exif({ time: date, ...offset })));
        expect(await clockOf("local.jpg", content)).toEqual([at, "exif"]);
      }
    }),
  );

  test.each([
    { name: "no time", block: exif({}) },
    { name: "zeros", block: exif({ time: "0000:00:00 00:00:00" }) },
    { name: "blanks", block: exif({ time: "    :  :     :  :  " }) },
    { name: "a 13th month", block: exif({ time: "2026:13:01 10:20:30" }) },
    { name: "a 30th of February", block: exif({ time: "2026:02:30 10:20:30" }) },
    { name: "a 25th hour", block: exif({ time: "2026:02:03 25:20:30" }) },
    { name: "words", block: exif({ time: "yesterday at noon.." }) },
    { name: "no EXIF but noise", block: Buffer.alloc(500, 0xa7) },
    { name: "a cut", block: exif(TIME).subarray(0, 30) },
  ])("is that of the file if EXIF has $name", async ({ block }) => {
    expect(await clockOf("nonsense.jpg", await jpeg(FLAG, exifSegment(block)))).toEqual(OF_FILE);
  });
});

describe("what a file is", () => {
  test("is told by its suffix and, without a known one, by its content", async () => {
    for (const name of ["a.JPG", "a", "a.txt"]) {
      const footage = await openFootage({ bytes: FLAG }, { sourceName: name });
      expect([footage.kind, footage.name]).toEqual(["photo", name]);
      await footage.close();
    }
    expect(await refusal({ bytes: Buffer.from("some words") }, { sourceName: "words.txt" })).toBe(
      "unsupported_source: words.txt cannot be observed: neither its name nor its content is that of a photo or video",
    );
  });
});
