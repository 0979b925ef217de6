import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FOOTAGE_LIMITS } from "../../../src/adapters/footage/protocol.ts";
import { leftOut } from "../../left-out.ts";
import {
  colours,
  folder,
  makeVideo,
  NO_FFMPEG,
  openFootage,
  png,
  refusal,
  write,
} from "./samples.ts";

const place = folder();
afterAll(() => rmSync(place, { recursive: true }));

/** Six seconds in grey: a red box appears after two and a blue one after four. */
const SCENES = [
  "color=0x404040:s=320x180:r=10:d=6",
  "drawbox=x=40:y=40:w=80:h=60:color=red:t=fill:enable='gte(t,2)'",
  "drawbox=x=200:y=110:w=80:h=40:color=blue:t=fill:enable='gte(t,4)'",
].join(",");
const INPUT = ["-f", "lavfi", "-i", SCENES];
const CREATED = "2026-03-01T10:20:30.000000Z";

describe.skipIf(NO_FFMPEG !== undefined)(`a video${leftOut(NO_FFMPEG)}`, () => {
  let scenes = "";
  beforeAll(() => {
    scenes = makeVideo(join(place, "scenes.mp4"), [
      ...INPUT,
      "-metadata",
      `creation_time=${CREATED}`,
    ]);
  });

  test("gives the frames at each second, and keeps those that changed", async () => {
    const footage = await openFootage({ path: scenes });
    const sha256 = createHash("sha256").update(readFileSync(scenes)).digest("hex");
    expect(footage).toMatchObject({ kind: "video", name: "scenes.mp4", path: scenes, sha256 });
    expect(footage.frames.map(({ index, timeS, reason }) => [index, timeS, reason])).toEqual([
      [0, 0, "first"],
      [1, 1, undefined],
      [2, 2, "change"],
      [3, 3, undefined],
      [4, 4, "change"],
      [5, 5, undefined],
    ]);
    const changes = footage.frames.map(({ change }) => change);
    expect([changes[0], changes[1]]).toEqual([undefined, 0]);
    const picture = await footage.picture(4);
    expect(await colours(picture.bytes, [80, 70], [240, 130], [300, 20])).toEqual([
      "255 0 0",
      "0 0 255",
      "128 128 128",
    ]);
    expect(picture.sha256).toBe(createHash("sha256").update(picture.bytes).digest("hex"));
    expect(await new Bun.Image(picture.bytes).metadata()).toMatchObject({
      width: 320,
      height: 180,
    });
    const small = await new Bun.Image(await footage.thumbnail(4, 64)).metadata();
    expect([small.width, small.height]).toEqual([64, 36]);
    await expect(footage.picture(1)).rejects.toThrow("frame 1 is not kept");
    await footage.close();
  });

  test("gives the same pictures in every run", async () => {
    const hashes = async () => {
      const footage = await openFootage({ path: scenes });
      const pictures = await Promise.all([0, 2, 4].map((index) => footage.picture(index)));
      await footage.close();
      return pictures.map(({ sha256 }) => sha256);
    };
    expect(await hashes()).toEqual(await hashes());
  });

  test("is looked at as often as is asked, and kept after a long time without change", async () => {
    const footage = await openFootage(
      { path: scenes },
      { fps: 4, maxGapSeconds: 1.5, changeThreshold: 100 },
    );
    expect(footage.frames.length).toBe(24);
    const kept = footage.frames.filter(({ reason }) => reason !== undefined);
    expect(kept.map(({ timeS, reason }) => [timeS, reason])).toEqual([
      [0, "first"],
      [1.5, "heartbeat"],
      [3, "heartbeat"],
      [4.5, "heartbeat"],
    ]);
    await footage.close();
  });

  test("of bytes is read from a file that nobody else can read and that is removed", async () => {
    const leftover = write(
      join(tmpdir(), `svc-video-${2 ** 22 - 1}-0123456789ab`),
      "of a process that was killed",
    );
    const footage = await openFootage({ bytes: readFileSync(scenes) });
    expect([footage.path, footage.frames.length, footage.captureClock]).toEqual([
      undefined,
      6,
      "container",
    ]);
    await footage.close();
    const names = readdirSync(tmpdir()).filter((name) =>
      name.startsWith(`svc-video-${process.pid}-`),
    );
    expect([names, existsSync(leftover)]).toEqual([[], false]);
  });

  test("that was filmed upright is shown upright", async () => {
    const turned = join(place, "turned.mp4");
    try {
      makeVideo(turned, ["-display_rotation", "90", "-i", scenes, "-c", "copy"]);
    } catch {
      // Before version 6 of ffmpeg.
      makeVideo(turned, ["-i", scenes, "-c", "copy", "-metadata:s:v:0", "rotate=90"]);
    }
    const footage = await openFootage({ path: turned });
    const { width, height } = await new Bun.Image((await footage.picture(0)).bytes).metadata();
    expect([width, height]).toEqual([320, 568]);
    await footage.close();
  });

  test.each([
    { file: "plain.mkv", words: [] },
    // In its real time it would give a busy machine worse pictures.
    { file: "plain.webm", words: ["-c:v", "libvpx", "-deadline", "good", "-s", "160x90"] },
    { file: "plain.avi", words: [] },
    { file: "plain.mpg", words: ["-r", "25"] },
    { file: "plain.mov", words: [] },
  ])("is read as $file", async ({ file, words }) => {
    const path = makeVideo(join(place, file), [...INPUT, ...words]);
    const footage = await openFootage({ path });
    const kept = footage.frames.filter(({ reason }) => reason !== undefined);
    expect(kept.map(({ index }) => index)).toEqual([0, 2, 4]);
    await footage.close();
  });

  test.each([
    { name: "the container says", created: CREATED, at: CREATED, clock: "container" },
    {
      name: "the file says, less its length",
      created: undefined,
      at: "2023-11-14T22:13:14.500000Z",
      clock: "file",
    },
  ])("began when $name", async ({ created, at, clock }) => {
    const metadata = created === undefined ? [] : ["-metadata", `creation_time=${created}`];
    const path = makeVideo(join(place, `clock-${clock}.mp4`), [...INPUT, ...metadata]);
    utimesSync(path, 1_700_000_000, 1_700_000_000.5);
    const footage = await openFootage({ path });
    expect(`${footage.capturedAt} ${footage.captureClock}`).toBe(`${at} ${clock}`);
    await footage.close();
  });

  test("with sound, subtitles, a cover and attachments is read by its pictures", async () => {
    const words = write(join(place, "words.srt"), "1\n00:00:00,000 --> 00:00:02,000\nhello\n");
    const path = makeVideo(join(place, "full.mkv"), [
      ...INPUT,
      ...["-f", "lavfi", "-i", "sine=d=6", "-i", words, "-attach", words],
      ...["-metadata:s:t", "mimetype=text/plain", "-map", "0", "-map", "1", "-map", "2"],
    ]);
    const footage = await openFootage({ path });
    expect(footage.frames.length).toBe(6);
    await footage.close();
  });

  test("whose name looks like an option, a protocol or a pattern is that file", async () => {
    const short = makeVideo(join(place, "short.mp4"), [
      ...["-f", "lavfi", "-i", "color=s=64x36:r=1:d=2"],
    ]);
    for (const name of [
      "-i.mp4",
      "concat:a.mp4|b.mp4",
      "http:x.mp4",
      "frame%03d.mp4",
      'a "b"\n$(c).mp4',
    ]) {
      const path = join(place, name);
      renameSync(short, path);
      const footage = await openFootage({ path });
      expect([footage.name, footage.frames.length]).toEqual([name, 2]);
      await footage.close();
      renameSync(path, short);
    }
  });

  test("is refused where it is not whole, not one, or has no pictures", async () => {
    const whole = readFileSync(scenes);
    const cover = write(
      join(place, "cover.png"),
      png(64, 64, () => [1, 2, 3]),
    );
    const song = makeVideo(join(place, "song.mp4"), [
      ...["-f", "lavfi", "-i", "sine=d=1", "-i", cover, "-map", "0", "-map", "1"],
      ...["-c:v", "png", "-disposition:v:0", "attached_pic"],
    ]);
    const large = makeVideo(join(place, "large.avi"), [
      "-f",
      "lavfi",
      "-i",
      "color=s=6002x6000:d=0.04",
      "-c:v",
      "mjpeg",
    ]);
    const refused = Object.fromEntries(
      await Promise.all(
        [
          write(join(place, "cut.mp4"), whole.subarray(0, whole.length / 2)),
          write(join(place, "empty.mp4"), ""),
          write(join(place, "words.mp4"), "some words"),
          song,
          large,
        ].map(async (path) => [path.slice(place.length + 1), await refusal({ path })]),
      ),
    );
    expect(refused).toEqual({
      "cut.mp4":
        "frame_decode_failed: cut.mp4 cannot be observed: it is no MP4 or MOV, or one that is cut off",
      "empty.mp4": "unsupported_source: empty.mp4 cannot be observed: it is empty",
      "words.mp4":
        "frame_decode_failed: words.mp4 cannot be observed: it is no MP4 or MOV, or one that is cut off",
      "song.mp4": "frame_decode_failed: song.mp4 cannot be observed: it has no moving picture",
      "large.avi":
        "frame_decode_failed: large.avi cannot be observed: its frames have more than 36 million pixels",
    });
  });

  test.each([
    { file: "stream.mp4", words: ["-movflags", "+faststart"] },
    { file: "stream.mkv", words: [] },
  ])(
    "that is cut off is refused, also where its beginning can be decoded: $file",
    async ({ file, words }) => {
      const whole = readFileSync(makeVideo(join(place, file), [...INPUT, ...words]));
      const path = write(join(place, `half-${file}`), whole.subarray(0, whole.length * 0.7));
      expect(await refusal({ path })).toBe(
        `frame_decode_failed: half-${file} cannot be observed: it is cut off`,
      );
    },
  );

  test("is refused when its kept frames would fill the disk, or it has too many", async () => {
    const within = async (video: Partial<typeof FOOTAGE_LIMITS.video>) =>
      await refusal(
        { path: scenes },
        {},
        { ...FOOTAGE_LIMITS, video: { ...FOOTAGE_LIMITS.video, ...video } },
      );
    expect(await within({ kept: 2000 })).toContain("its kept frames have more than 0 MiB");
    expect(await within({ frames: 3 })).toContain("it has more than 3 frames at 1 a second");
  });

  test("that says it is a year long is refused before it is decoded", async () => {
    const path = makeVideo(join(place, "year.mkv"), [
      "-f",
      "lavfi",
      "-i",
      "color=s=64x64:r=1:d=3",
      "-vf",
      "setpts=PTS*1e7",
      "-fps_mode",
      "passthrough",
    ]);
    expect(await refusal({ path })).toContain("it has more than 50000 frames at 1 a second");
  });
});
