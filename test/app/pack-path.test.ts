import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { layoutOf, settingsForPath } from "../../src/app/pack-path.ts";
import { loadConfig } from "../../src/config/load.ts";
import { pathArgument } from "../../src/config/path.ts";
import type { ConfigInput } from "../../src/config/schema.ts";
import { fileBesidePack, namedFile } from "../../src/config/settings-file.ts";
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

  test("is a pack file when it ends in .pack in any case, and a directory pack otherwise", () => {
    for (const name of ["a.PACK", "a.Pack"]) {
      expect(layout(settingsForPath(at(name)))).toEqual({ kind: "file", path: at(name) });
    }
    for (const name of ["memory", "memory/", "a.pack.d", "a.pack/memory"]) {
      expect(layout(settingsForPath(`${place}/${name}`)).kind).toBe("directory");
    }
  });

  test.each(["a.pack/", "a.PACK/", "a.pack//"])("is no folder that is missing: %s", (name) => {
    expect(() => settingsForPath(`${place}/${name}`)).toThrow(
      expect.objectContaining({ code: "invalid_argument", data: { field: "path" } }),
    );
    mkdirSync(at("a.PACK"));
    mkdirSync(at("a.pack"), { recursive: true });
    expect(layout(settingsForPath(`${place}/${name}`)).kind).toBe("directory");
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

describe("the home folder", () => {
  const HOME = homedir();

  test.each(["~", "$HOME", "\u0024{HOME}"])(
    "is %s at the start of a path, in options and settings",
    (home) => {
      const name = `svc-${randomUUID()}`;
      const file = { kind: "file" as const, path: join(realpathSync(HOME), `${name}.pack`) };
      const given = `${home}/${name}.pack`;
      expect(layout(settingsForPath(given))).toEqual(file);
      expect(layout({ pack_path: given })).toEqual(file);
      const environment = { SVC_PACK_PATH: given };
      expect(layoutOf(loadConfig({ environment, folder: place }).config)).toEqual(file);
      writeFileSync(at(".env"), `SVC_PACK_PATH='${given}'\n`);
      expect(layoutOf(loadConfig({ environment: {}, folder: place }).config)).toEqual(file);
      expect(layout(settingsForPath(`${home}/${name}`))).toEqual(directory(join(HOME, name)));
      const paths = { db_path: given, vector_path: `${home}/v`, lexical_path: `${home}/l` };
      const { config } = loadConfig({ environment: {}, file: null, explicit: paths });
      expect([config.db_path, config.vector_path, config.lexical_path]).toEqual([
        file.path,
        join(HOME, "v"),
        join(HOME, "l"),
      ]);
      expect(namedFile(given).path).toBe(join(HOME, `${name}.pack`));
      expect(fileBesidePack(given, {})?.path).toBe(join(HOME, ".env"));
    },
  );

  test.each(["./~/a.pack", "a/~", "~a.pack", "a$HOME.pack", "$", "5$.pack"])(
    "is not meant by %s",
    (name) => {
      expect(pathArgument("file", name)).toBe(name);
    },
  );

  test.each([
    "$MEMORY/a.pack",
    "\u0024{MEMORY}",
    "\u0024{env:HOME}/a.pack",
    "\u0024{workspaceFolder}/a.pack",
    "/home/$USER/a.pack",
    "notes-\u0024{USER}.pack",
    "$(pwd)/a.pack",
    "%APPDATA%/a.pack",
    "~nobody-of-this-name/a.pack",
  ])("is the only one that is replaced: %s is refused", (name) => {
    expect(() => settingsForPath(name)).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
    expect(() => namedFile(name)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    const refused = { code: "invalid_config", data: { setting: "pack_path" } };
    expect(() => layout({ pack_path: name })).toThrow(expect.objectContaining(refused));
  });

  test("and what is there under a name with a variable is meant by it", () => {
    mkdirSync(at("$kept"));
    expect(layout(settingsForPath(at("$kept", "a.pack")))).toEqual({
      kind: "file",
      path: at("$kept", "a.pack"),
    });
  });

  test("does not hide a pack that was made where ~ was the name of a folder", () => {
    const name = `svc-${randomUUID()}.pack`;
    const folder = process.cwd();
    process.chdir(place);
    try {
      mkdirSync("~");
      writeFileSync(`~/${name}`, "");
      expect(() => settingsForPath(`~/${name}`)).toThrow(at("~", name));
      expect(layout(settingsForPath(`./~/${name}`))).toEqual({ kind: "file", path: at("~", name) });
    } finally {
      process.chdir(folder);
    }
  });
});

test("a folder as pack_path is the directory pack in it, as an option", () => {
  mkdirSync(at("packs.pack"));
  for (const given of [at("packs.pack"), `${at("packs.pack")}/`]) {
    const environment = { SVC_PACK_PATH: given };
    const { config } = loadConfig({ environment, folder: place });
    expect(layoutOf(config)).toEqual(directory(at("packs.pack")));
    expect(config.pack_path).toBeUndefined();
  }
  expect(layout({ pack_path: at("missing") })).toEqual({ kind: "file", path: at("missing") });
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
