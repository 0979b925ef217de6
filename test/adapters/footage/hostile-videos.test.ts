import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFootageReader } from "../../../src/adapters/footage/footage-reader.ts";
import { FOOTAGE_LIMITS } from "../../../src/adapters/footage/protocol.ts";
import { createSystemClock } from "../../../src/adapters/system/system.ts";
import { leftOut } from "../../left-out.ts";
import { folder, makeVideo, NO_FFMPEG, OPTIONS, refusal, write } from "./samples.ts";

const place = folder();
afterAll(() => rmSync(place, { recursive: true }));

describe.skipIf(NO_FFMPEG !== undefined)(`a playlist${leftOut(NO_FFMPEG)}`, () => {
  test("under the name of a video opens no file and no address", async () => {
    let requests = 0;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => {
        requests += 1;
        return new Response("no");
      },
    });
    const secret = makeVideo(join(place, "secret.mp4"), [
      "-f",
      "lavfi",
      "-i",
      "testsrc=s=64x64:d=1",
    ]);
    const address = `http://127.0.0.1:${server.port}/part.ts`;
    const contents = {
      "hls.mp4": `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${address}\n#EXT-X-ENDLIST\n`,
      "hls-file.mov": `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://${secret}\n#EXT-X-ENDLIST\n`,
      "list.mkv": `ffconcat version 1.0\nfile '${secret}'\n`,
      "session.avi": `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video ${server.port} RTP/AVP 96\na=rtpmap:96 H264/90000\n`,
      "dash.webm": `<?xml version="1.0"?><MPD><Period><AdaptationSet><Representation><BaseURL>${address}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    };
    const refused = Object.entries(contents).map(async ([name, content]) => {
      return await refusal({ path: write(join(place, name), content) });
    });
    for (const outcome of await Promise.all(refused)) {
      expect(outcome).toMatch(
        /^frame_decode_failed: .*(Invalid data found|its content is none of MP4|it is no MP4)/,
      );
    }
    expect(requests).toBe(0);
    await server.stop(true);
  });
});

/** A folder with an ffmpeg that never ends nor answers. */
function hangingFfmpeg(): { readonly path: string; readonly mark: string } {
  const mark = String(1_000_000 + Math.floor(Math.random() * 1e6));
  for (const name of ["ffmpeg", "ffprobe"]) {
    // The probe finds nothing; the decoder hangs.
    const script = name === "ffmpeg" ? `exec /bin/sleep ${mark}` : "exit 1";
    chmodSync(write(join(place, name), `#!/bin/sh\n${script}\n`), 0o755);
  }
  return { path: place, mark };
}

/** Processes with that word among their arguments. */
function processesWith(word: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes(word);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(20);
}

const NOT_LINUX = process.platform === "linux" ? undefined : "it looks at /proc";

describe.skipIf(NOT_LINUX !== undefined)(`a decoder that hangs${leftOut(NOT_LINUX)}`, () => {
  const { path: PATH, mark } = hangingFfmpeg();
  const video = write(join(place, "any.mp4"), "any content");
  const reader = createFootageReader({ clock: createSystemClock(), environment: { PATH } });

  test("is ended after its time", async () => {
    const hasty = createFootageReader({
      clock: createSystemClock(),
      environment: { PATH },
      limits: { ...FOOTAGE_LIMITS, video: { ...FOOTAGE_LIMITS.video, limitMs: 1500 } },
    });
    await expect(hasty.open({ path: video }, OPTIONS)).rejects.toThrow(
      "reading it took more than 1.5 s",
    );
    await until(() => processesWith(mark).length === 0);
  });

  test("is ended with the call", async () => {
    const caller = new AbortController();
    const opened = reader.open({ path: video }, { ...OPTIONS, signal: caller.signal });
    await until(() => processesWith(mark).length > 0);
    caller.abort(new Error("the caller left"));
    await expect(opened).rejects.toThrow("the caller left");
    await until(() => processesWith(mark).length === 0);
    const late = reader.open({ path: video }, { ...OPTIONS, signal: caller.signal });
    await expect(late).rejects.toThrow("the caller left");
  });

  test("is ended with the process that started it, however that ends, and its files are not left readable", async () => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "open-one.ts"), video], {
      env: { ...process.env, PATH },
      stdout: "ignore",
    });
    await until(() => processesWith(mark).length > 0);
    child.kill("SIGKILL");
    await child.exited;
    await until(() => processesWith(mark).length === 0);
    expect(existsSync(`/proc/${child.pid}`)).toBe(false);
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`svc-frames-${child.pid}-`)),
    ).toEqual([]);
  });
});
