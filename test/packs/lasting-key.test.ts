import { describe, expect, test } from "bun:test";
import { type FileSystem, isOutlived } from "../../src/app/new-key.ts";

const DISK: FileSystem = { type: 0xef53, device: 1 };
const OTHER_DISK: FileSystem = { type: 0x9123683e, device: 2 };
const LAYER: FileSystem = { type: 0x794c7630, device: 3 };
const MEMORY: FileSystem = { type: 0x01021994, device: 4 };

describe("a key in a file is gone before its pack", () => {
  test.each([
    ["of a container, if the pack is in a volume", LAYER, DISK, LAYER],
    ["of a container without an overlay, if the pack is in a volume", DISK, OTHER_DISK, DISK],
    ["in memory, if the pack is on a disk", MEMORY, DISK, undefined],
    ["of a session that overlays a disk, if the pack is on another", LAYER, DISK, undefined],
  ])("%s", (_name, key, pack, root) => {
    expect(isOutlived(key, pack, root)).toBeTrue();
  });
});

describe("a key in a file lasts as long as its pack", () => {
  test.each([
    ["on the same disk", DISK, DISK, undefined],
    ["on another disk", DISK, OTHER_DISK, undefined],
    ["if the pack is in memory, as in /tmp of a desktop", DISK, MEMORY, undefined],
    ["of a container, if the pack is in the same layer", LAYER, LAYER, LAYER],
    ["of a container, if the pack is in memory", LAYER, MEMORY, LAYER],
    ["in another volume of a container", DISK, OTHER_DISK, LAYER],
  ])("%s", (_name, key, pack, root) => {
    expect(isOutlived(key, pack, root)).toBeFalse();
  });
});
