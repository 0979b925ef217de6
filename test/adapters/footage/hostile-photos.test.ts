import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { leftOut } from "../../left-out.ts";
import {
  chunk,
  exif,
  exifSegment,
  folder,
  jpeg,
  NO_FFMPEG,
  png,
  rawPng,
  refusal,
  write,
} from "./samples.ts";

const place = folder();
afterAll(() => rmSync(place, { recursive: true }));

/** Megabytes that reading a file may take, with all processes: half of what ends one. */
const MOST_MB = 700;

const PLAIN = png(32, 32, (x, y) => [x * 8, y * 8, 128]);

/** What became of a file, and the megabytes of the process that took most. */
function open(path: string): { readonly outcome: string; readonly megabytes: number } {
  const command = [process.execPath, join(import.meta.dir, "measure-one.ts"), path];
  const { stdout } = Bun.spawnSync(command, { stderr: "inherit" });
  return JSON.parse(stdout.toString());
}

/** A GIF of that size, which compresses to a few bytes. */
function gif(width: number, height: number): Buffer {
  const head = Buffer.from(
    "GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\0\0\0\0\0\x02\x02\x44\x01\0;",
    "latin1",
  );
  for (const at of [6, 24]) {
    head.writeUInt16LE(width, at);
    head.writeUInt16LE(height, at + 2);
  }
  return head;
}

/** A TIFF that claims a size and has one strip. */
function tiff(width: number, height: number): Buffer {
  const entries = [
    [256, 4, width],
    [257, 4, height],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 200],
    [277, 3, 1],
    [278, 4, height],
    [279, 4, 1000],
  ] as const;
  const file = Buffer.alloc(1200);
  file.write("II*\0\x08\0\0\0", 0, "latin1");
  file.writeUInt16LE(entries.length, 8);
  for (const [i, [tag, type, value]] of entries.entries()) {
    file.writeUInt16LE(tag, 10 + i * 12);
    file.writeUInt16LE(type, 12 + i * 12);
    file.writeUInt32LE(1, 14 + i * 12);
    file.writeUInt32LE(value, 18 + i * 12);
  }
  return file;
}

/** A grey JPEG of 16 x 16 pixels in cyan, magenta, yellow and black, as Adobe's programs write it. */
function cmykJpeg(): Buffer {
  const segment = (marker: number, ...content: readonly number[]): Buffer =>
    Buffer.from([0xff, marker, 0, content.length + 2, ...content]);
  const parts = [1, 2, 3, 4];
  // One code of one bit in each table: no difference, and the end of the block.
  const table = (kind: number): readonly number[] => [kind, 1, ...new Array<number>(15).fill(0), 0];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xee, ...Buffer.from("Adobe"), 0, 100, 0, 0, 0, 0, 0),
    segment(0xdb, 0, ...new Array<number>(64).fill(1)),
    segment(0xc0, 8, 0, 16, 0, 16, 4, ...parts.flatMap((part) => [part, 0x11, 0])),
    segment(0xc4, ...table(0x00), ...table(0x10)),
    segment(0xda, 4, ...parts.flatMap((part) => [part, 0]), 0, 63, 0),
    Buffer.alloc(4),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** The beginning of a JPEG that claims a size. */
function claimedJpeg(width: number, height: number): Buffer {
  const content = cmykJpeg();
  const at = content.indexOf(Buffer.from([0xff, 0xc0]));
  content.writeUInt16BE(height, at + 5);
  content.writeUInt16BE(width, at + 7);
  return content;
}

/** Two pictures of 2 x 2 pixels. */
function animatedGif(): Buffer {
  const one = gif(2, 2);
  const picture = one.subarray(19, -1);
  return Buffer.concat([one.subarray(0, -1), picture, one.subarray(-1)]);
}

/** The beginning of a WebP that says that it is an animation. */
function animatedWebp(): Buffer {
  const file = Buffer.from(
    "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x01\0\0\x01\0\0ANIM\x06\0\0\0\0\0\0\0\0\0",
    "latin1",
  );
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

/** EXIF of 64 kB whose 5,000 entries each claim to be as long as all of it. */
function greedyExif(): Buffer {
  const count = 5000;
  const block = Buffer.alloc(65_000);
  block.write("MM\0*\0\0\0\x08", 0, "latin1");
  block.writeUInt16BE(count, 8);
  for (let i = 0; i < count; i++) {
    block.writeUInt16BE(i, 10 + i * 12);
    block.writeUInt16BE(1, 12 + i * 12);
    block.writeUInt32BE(0xffffffff, 14 + i * 12);
    block.writeUInt32BE(8, 18 + i * 12);
  }
  return block;
}

const TOO_LARGE = "it has more than 128 million pixels";
const BIG_EXIF = Buffer.concat([exif({ time: "2026:03:01 10:20:30" }), Buffer.alloc(10_000_000)]);

describe("a hostile photo", () => {
  test.each([
    {
      file: "pixels.png",
      content: rawPng(50_000, 50_000, 0, deflateSync(Buffer.alloc(1000))),
      is: TOO_LARGE,
    },
    { file: "pixels.gif", content: gif(50_000, 50_000), is: TOO_LARGE },
    { file: "pixels.jpg", content: claimedJpeg(50_000, 50_000), is: TOO_LARGE },
    {
      file: "bomb.png",
      content: rawPng(8000, 8000, 6, deflateSync(Buffer.alloc((8000 * 4 + 1) * 8000))),
      is: "photo, 2048 x 2048",
    },
    {
      file: "profile.png",
      content: png(4, 4, () => [1, 2, 3], [
        chunk(
          "iCCP",
          Buffer.concat([Buffer.from("x\0\0"), deflateSync(Buffer.alloc(300_000_000))]),
        ),
      ]),
      is: "it is damaged",
    },
    { file: "truncated.png", content: PLAIN.subarray(0, PLAIN.length / 2), is: "it is damaged" },
    { file: "empty.png", content: Buffer.alloc(0), is: "it is empty" },
    {
      file: "page.jpg",
      content: Buffer.from("%PDF-1.7 and more"),
      is: "it holds no picture that can be read",
    },
    {
      file: "movie.jpg",
      content: Buffer.from("\0\0\0\x18ftypisom\0\0\0\0isommp42", "latin1"),
      is: "it holds no picture that can be read",
    },
    { file: "animated.gif", content: animatedGif(), is: "photo, 2 x 2" },
    { file: "animated.webp", content: animatedWebp(), is: "it is an animation as WebP" },
    { file: "cmyk.jpg", content: cmykJpeg(), is: "photo, 16 x 16" },
    {
      file: "exif.png",
      content: png(4, 4, () => [1, 2, 3], [chunk("eXIf", BIG_EXIF)]),
      is: "photo, 4 x 4, 1 frames, 1 kept, exif",
    },
    {
      file: "phone.heic",
      content: Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1"),
      is: process.platform === "linux" ? "HEIC, HEIF and AVIF need a decoder of the system" : "",
    },
  ])("$file is handled or refused by name, in bounded memory", ({ file, content, is }) => {
    const { outcome, megabytes } = open(write(join(place, file), content));
    expect(outcome).toContain(is);
    expect(megabytes).toBeLessThan(MOST_MB);
  });

  test("that is cut off is refused in every format, wherever it is cut", async () => {
    const picture = png(100, 100, (x, y) => [(x * y) % 256, (x * 7) % 256, (y * 13) % 256]);
    const image = () => new Bun.Image(picture);
    const files = {
      "a.png": picture,
      "a.jpg": await jpeg(picture, exifSegment(exif({ time: "2026:03:01 10:20:30" }))),
      "progressive.jpg": await image().jpeg({ progressive: true }).bytes(),
      "a.webp": await image().webp().bytes(),
      "lossless.webp": await image().webp({ lossless: true }).bytes(),
      "a.gif": gif(2, 2).subarray(0, -1),
    };
    for (const [sourceName, whole] of Object.entries(files)) {
      expect(await refusal({ bytes: whole }, { sourceName })).toBe("opened");
      for (const part of [0.1, 0.5, 0.95]) {
        const bytes = whole.slice(0, Math.floor(whole.length * part));
        expect(await refusal({ bytes }, { sourceName })).toMatch(
          /^unsupported_source: .* (it is cut off|it is damaged|it holds no picture that can be read)$/,
        );
      }
    }
  });

  test("with more behind its end is what stands before it", async () => {
    const bytes = Buffer.concat([await jpeg(PLAIN), Buffer.alloc(10_000, 0xff)]);
    expect(await refusal({ bytes }, { sourceName: "a.jpg" })).toBe("opened");
  });

  test("with EXIF that would fill the memory is read without it", async () => {
    const content = await jpeg(PLAIN, exifSegment(greedyExif()));
    const { outcome, megabytes } = open(write(join(place, "greedy.jpg"), content));
    expect(outcome).toBe("photo, 32 x 32, 1 frames, 1 kept, file");
    expect(megabytes).toBeLessThan(MOST_MB);
  });

  test("with 10 MB of EXIF in segments is read without them", async () => {
    const segments = new Array<Buffer>(160).fill(exifSegment(Buffer.alloc(65_000)));
    const { outcome } = open(write(join(place, "segments.jpg"), await jpeg(PLAIN, ...segments)));
    expect(outcome).toBe("photo, 32 x 32, 1 frames, 1 kept, file");
  });

  test.skipIf(NO_FFMPEG !== undefined)(`as TIFF may claim any size${leftOut(NO_FFMPEG)}`, () => {
    const { outcome, megabytes } = open(write(join(place, "claim.tif"), tiff(50_000, 50_000)));
    expect(outcome).toContain("claim.tif cannot be observed: ffmpeg cannot read it");
    expect(megabytes).toBeLessThan(MOST_MB);
  });

  test("that is no file is refused, at once", async () => {
    const pipe = join(place, "pipe.jpg");
    Bun.spawnSync(["mkfifo", pipe]);
    symlinkSync("/dev/zero", join(place, "zero.jpg"));
    symlinkSync(join(place, "circle.jpg"), join(place, "circle.jpg"));
    mkdirSync(join(place, "folder.jpg"));
    const outcomes = ["pipe", "zero", "circle", "folder", "none"].map(async (name) => {
      return [name, await refusal({ path: join(place, `${name}.jpg`) })];
    });
    const device = (name: string) =>
      `unsupported_source: ${name} cannot be observed: it is no file but a device or pipe`;
    const shown = (name: string) => `not_found: ${join(place, `${name}.jpg`)} cannot be observed:`;
    expect(Object.fromEntries(await Promise.all(outcomes))).toEqual({
      pipe: device("pipe.jpg"),
      zero: device("zero"),
      circle: `${shown("circle")} its links lead in a circle`,
      folder: `${shown("folder")} it is a folder`,
      none: `${shown("none")} there is no such file`,
    });
  });

  test("that takes too long, too much memory or too many bytes is given up", async () => {
    const { FOOTAGE_LIMITS } = await import("../../../src/adapters/footage/protocol.ts");
    const path = write(
      join(place, "slow.png"),
      rawPng(10_000, 10_000, 6, deflateSync(Buffer.alloc((10_000 * 4 + 1) * 10_000))),
    );
    const within = async (photo: Partial<typeof FOOTAGE_LIMITS.photo>) =>
      await refusal(
        { path },
        {},
        { ...FOOTAGE_LIMITS, photo: { ...FOOTAGE_LIMITS.photo, ...photo } },
      );
    expect(await within({ limitMs: 100 })).toContain("reading it took more than 0.1 s");
    expect(await within({ bytes: 1000 })).toContain("it has more than 0 MiB");
    if (process.platform !== "linux") return;
    expect(await within({ memoryBytes: 150e6 })).toContain(
      "reading it took more than 150 MB of memory",
    );
  });
});
