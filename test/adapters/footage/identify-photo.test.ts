import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFootageReader } from "../../../src/adapters/footage/footage-reader.ts";
import { FOOTAGE_LIMITS } from "../../../src/adapters/footage/protocol.ts";
import { createSystemClock } from "../../../src/adapters/system/system.ts";
import { picture } from "../../surface/cli/pictures.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-identify-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const reader = createFootageReader({ clock: createSystemClock(), environment: process.env });
const OPTIONS = { fps: 1, frameWidth: 64, changeThreshold: 0.55, maxGapSeconds: 30 };

test("a photo is the one that opening it gives, as a file, through a link and as bytes", async () => {
  const bytes = new Uint8Array(picture(1));
  const path = join(folder, "a.png");
  writeFileSync(path, bytes);
  symlinkSync("a.png", join(folder, "link.png"));
  for (const input of [{ path }, { path: join(folder, "link.png") }, { bytes }]) {
    for (const sourceName of [undefined, "Rex"]) {
      const footage = await reader.open(input, { ...OPTIONS, sourceName });
      const { name, path: real, sha256 } = footage;
      await footage.close();
      expect(await reader.identify(input, sourceName)).toEqual({ name, path: real, sha256 });
    }
  }
});

test("a video, what is neither, and a photo that is too large are not identified", async () => {
  const large = join(folder, "large.png");
  writeFileSync(large, "");
  Bun.spawnSync(["truncate", "-s", String(FOOTAGE_LIMITS.photo.bytes + 1), large]);
  const others = [join(folder, "film.mp4"), join(folder, "notes.txt")];
  for (const path of others) writeFileSync(path, "hello");
  for (const path of [large, ...others]) {
    expect(await reader.identify({ path }, undefined)).toBeUndefined();
  }
});

test("a missing file and a folder are refused as by opening them", async () => {
  for (const path of [join(folder, "nowhere.png"), folder]) {
    const refusal = { code: "not_found" };
    expect(await reader.identify({ path }, undefined).catch((error) => error)).toMatchObject(
      refusal,
    );
  }
});
