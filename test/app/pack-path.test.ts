import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { layoutOf, settingsForPath } from "../../src/app/pack-path.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ConfigInput } from "../../src/config/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";

let place = "";
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "svc-path-")));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const at = (...parts: string[]): string => join(place, ...parts);

function layout(explicit: ConfigInput) {
  return layoutOf(loadConfig({ environment: {}, folder: place, explicit }).config);
}

const directory = (folder: string) => ({
  kind: "directory" as const,
  databasePath: join(folder, "memory.db"),
  vectorPath: join(folder, "vectors.index"),
  lexicalPath: join(folder, "lexical_index"),
});

describe("a path as a person writes it", () => {
  test("is a pack file when it ends in .pack", () => {
    expect(layout(settingsForPath(at("a.pack")))).toEqual({ kind: "file", path: at("a.pack") });
  });

  test("is a directory pack when a folder of that name exists", () => {
    mkdirSync(at("a.pack"));
    expect(layout(settingsForPath(at("a.pack")))).toEqual(directory(at("a.pack")));
  });

  test("is a directory pack when it does not end in .pack, in this very case", () => {
    for (const name of ["memory", "a.PACK", "a.pack/"]) {
      expect(layout(settingsForPath(`${place}/${name}`)).kind).toBe("directory");
    }
  });

  test("is the directory pack around its memory.db", () => {
    expect(layout(settingsForPath(at("memory.db")))).toEqual(directory(place));
  });

  test("is a pack file when a file of another name exists", () => {
    writeFileSync(at("notes.txt"), "hello");
    expect(layout(settingsForPath(at("notes.txt")))).toEqual({
      kind: "file",
      path: at("notes.txt"),
    });
  });

  test("wins over the environment, whatever that says", () => {
    const environment = {
      SVC_PACK_PATH: "/elsewhere.pack",
      SVC_DB_PATH: "/elsewhere.db",
      SVC_DATABASE_URL: "postgres://elsewhere",
    };
    for (const [path, expected] of [
      [at("a.pack"), { kind: "file" as const, path: at("a.pack") }],
      [at("m"), directory(at("m"))],
    ] as const) {
      const explicit = settingsForPath(path);
      const { config } = loadConfig({ environment, folder: place, explicit });
      expect(layoutOf(config)).toEqual(expected);
    }
  });
});

describe("a path that leads nowhere", () => {
  beforeEach(() => {
    writeFileSync(at("a.pack"), "");
    symlinkSync("b.pack", at("c.pack"));
    symlinkSync("c.pack", at("b.pack"));
  });

  test.each([
    ["a.pack/", "a file stands where a folder is expected"],
    ["a.pack/b.pack", "a file stands where a folder is expected"],
    [`${"y".repeat(300)}.pack`, "its name is too long"],
    ["b.pack", "its symbolic links lead in a circle"],
  ])("is refused in words: %s", (name, says) => {
    // Not joined, which would take a slash at the end away.
    const path = `${place}/${name}`;
    const ways = [
      () => settingsForPath(path),
      () => layout({ pack_path: name.endsWith("/") ? `${path}z.pack` : path }),
    ];
    for (const way of ways) {
      expect(way).toThrow(expect.objectContaining({ code: "storage_failed" }));
      expect(way).toThrow(says);
    }
  });
});

describe("links to a pack file", () => {
  test("are followed, so that one file has one name", () => {
    mkdirSync(at("real"));
    writeFileSync(at("real", "a.pack"), "");
    symlinkSync(at("real"), at("folder"));
    symlinkSync("real/a.pack", at("link.pack"));
    for (const path of [
      at("link.pack"),
      at("folder", "a.pack"),
      at("real", "..", "folder", "a.pack"),
    ]) {
      expect(layout({ pack_path: path })).toEqual({ kind: "file", path: at("real", "a.pack") });
    }
  });

  test("are followed to a file that does not exist yet", () => {
    symlinkSync("later/b.pack", at("link.pack"));
    expect(layout({ pack_path: at("link.pack") })).toEqual({
      kind: "file",
      path: at("later", "b.pack"),
    });
  });

  test("are refused when they lead in a circle", () => {
    symlinkSync("b.pack", at("a.pack"));
    symlinkSync("a.pack", at("b.pack"));
    expect(() => layout({ pack_path: at("a.pack") })).toThrow(SvcError);
  });
});
