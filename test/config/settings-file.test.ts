import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { loadConfig } from "../../src/config/load.ts";
import {
  addSettings,
  envFileIn,
  fileBesidePack,
  namedFile,
  parseEnvFile,
} from "../../src/config/settings-file.ts";

const root = mkdtempSync(join(tmpdir(), "svc-settings-file-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Environment = Readonly<Record<string, string>>;

function load(dotenv: string, environment: Environment = {}) {
  const folder = mkdtempSync(join(root, "f-"));
  writeFileSync(join(folder, ".env"), dotenv);
  const { config, ...rest } = loadConfig({ environment, folder });
  return { ...config, ...rest, path: join(folder, ".env") };
}

describe("an address from a file", () => {
  const VISION = "SVC_VISION__ENABLED=true\nSVC_VISION__PROVIDER=openai\nSVC_VISION__MODEL=m\n";

  test.each([
    { name: "ours", line: "SVC_EXTRACTION__BASE_URL=http://a.test" },
    { name: "in the other form", line: "svc_extraction_base_url=http://a.test" },
    { name: "in a group", line: 'SVC_EXTRACTION={"base_url":"http://a.test"}' },
    { name: "of the provider", line: "OPENAI_BASE_URL=http://a.test" },
  ])("gets no key of the environment: $name", ({ line }) => {
    for (const variable of [
      "OPENAI_API_KEY",
      "SVC_EXTRACTION__API_KEY",
      "SVC_EXTRACTION_API_KEY",
    ]) {
      const { extraction, notices } = load(line, { [variable]: "secret" });
      expect(extraction.base_url).toBe("http://a.test");
      expect(extraction.api_key).toBeUndefined();
      expect(notices.join("\n")).toContain("Warning: the key of extraction is not used");
      expect(notices.join("\n")).not.toContain("secret");
    }
  });

  test("gets no explicit key either", () => {
    const { path } = load("SVC_EXTRACTION__BASE_URL=http://a.test");
    const explicit = { extraction: { api_key: "secret" } };
    const { config } = loadConfig({ environment: {}, explicit, file: namedFile(path) });
    expect(config.extraction.api_key).toBeUndefined();
  });

  test("gets the key of the file, whatever the environment has", () => {
    const file = "SVC_EXTRACTION__BASE_URL=http://a.test\n";
    const environment = { SVC_EXTRACTION__API_KEY: "mine", OPENAI_API_KEY: "mine" };
    for (const key of ["SVC_EXTRACTION__API_KEY=theirs", "OPENAI_API_KEY=theirs"]) {
      const { extraction, notices } = load(`${file}${key}`, environment);
      expect(extraction.api_key?.reveal()).toBe("theirs");
      expect(notices.join("\n")).not.toContain("Warning");
    }
  });

  test("of one model leaves the key of the other alone", () => {
    const { extraction, vision } = load(`${VISION}SVC_VISION__BASE_URL=http://a.test`, {
      OPENAI_API_KEY: "mine",
    });
    expect([extraction.api_key?.reveal(), vision.api_key]).toEqual(["mine", undefined]);
  });

  test("counts only where the environment has none", () => {
    const environment = { OPENAI_API_KEY: "mine", SVC_EXTRACTION__BASE_URL: "http://b.test" };
    const { extraction, notices } = load("SVC_EXTRACTION__BASE_URL=http://a.test", environment);
    expect(extraction.base_url).toBe("http://b.test");
    expect(extraction.api_key?.reveal()).toBe("mine");
    expect(notices).toEqual([]);
  });

  test("is met by a key of the file where the environment gives the address", () => {
    const { extraction } = load("OPENAI_API_KEY=file", { OPENAI_BASE_URL: "http://b.test" });
    expect(extraction.base_url).toBe("http://b.test");
    expect(extraction.api_key?.reveal()).toBe("file");
  });
});

describe("what a file decides", () => {
  test("is told by name where it is of consequence, and never with its value", () => {
    const { notices, path } = load(
      [
        "SVC_PACK_PATH=/secret/place.pack",
        "SVC_ENCRYPTION_KEY=secret",
        "SVC_API_ALLOWED_HOSTS=[]",
        "SVC_MODELS__HUB_URL=http://secret.test",
        "SVC_WRITE_QUEUE_SIZE=9",
      ].join("\n"),
    );
    expect(notices).toEqual([
      `Settings taken from ${path}: api.allowed_hosts, encryption_key, models.hub_url, pack_path`,
    ]);
  });

  test("is not told where the environment decides, nor when it is harmless", () => {
    const environment = { SVC_PACK_PATH: "/mine.pack" };
    expect(load("SVC_PACK_PATH=/theirs.pack", environment).notices).toEqual([]);
    expect(load("SVC_WRITE_QUEUE_SIZE=9").notices).toEqual([]);
  });
});

describe("a file that others may have written", () => {
  test("is left out with a warning, of the group beside a pack only", () => {
    const { path } = load("SVC_WRITE_QUEUE_SIZE=9");
    const beside = fileBesidePack(join(path, "../memory.pack"), {});
    expect(beside).toEqual({ path, found: "beside-pack" });
    const size = (file: Parameters<typeof loadConfig>[0]) =>
      loadConfig({ environment: {}, ...file }).config.write_queue_size;
    const there = envFileIn(join(path, ".."));
    chmodSync(path, 0o660);
    expect([size({ file: there }), size({ file: beside })]).toEqual([9, 1000]);
    chmodSync(path, 0o602);
    expect([size({ file: there }), size({ file: beside })]).toEqual([1000, 1000]);
    expect(loadConfig({ environment: {}, file: there }).warnings[0]).toContain(
      `chmod go-w ${path}`,
    );
    expect(() => loadConfig({ environment: {}, file: namedFile(path) })).toThrow("can change it");
  });

  test.each<readonly [string, (path: string) => void, string]>([
    ["a pipe", (path) => Bun.spawnSync(["mkfifo", path]), "it is no regular file"],
    ["a device", (path) => symlinkSync("/dev/zero", path), "it is no regular file"],
    [
      "too large",
      (path) => {
        writeFileSync(path, "A=1");
        truncateSync(path, 8 * 1024 ** 3);
      },
      "it is larger than 1048576 bytes",
    ],
    ["of bytes", (path) => writeFileSync(path, "A=\0\n"), "it is not text: it holds a NUL"],
  ])("is left out with a warning where it is %s", (name, make, why) => {
    const folder = join(root, name.replaceAll(" ", "-"));
    mkdirSync(folder);
    make(join(folder, ".env"));
    const { warnings } = loadConfig({ environment: {}, folder });
    expect(warnings.join()).toContain(`${join(folder, ".env")} is not read: ${why}`);
  });

  test("is read through a link of one's own", () => {
    const { path } = load("SVC_WRITE_QUEUE_SIZE=9");
    const folder = join(root, "linked");
    mkdirSync(folder);
    symlinkSync(path, join(folder, ".env"));
    expect(loadConfig({ environment: {}, folder }).config.write_queue_size).toBe(9);
  });

  test("is none where a relative path names the pack", () => {
    expect(fileBesidePack("memory.pack", { pack_path: "/a/memory.pack" })).toBeUndefined();
    expect(fileBesidePack("./a/memory.pack", { pack_path: "/b/a/memory.pack" })).toBeUndefined();
  });
});

const CASES = [
  { name: "a bare value", text: "A=one two ", value: "one two" },
  { name: "an export", text: "export A=1", value: "1" },
  { name: "blanks around the sign", text: " A = 1", value: "1" },
  { name: "a comment behind the value", text: "A=1 # one", value: "1" },
  { name: "a sign of a comment within the value", text: "A=a#b", value: "a#b" },
  { name: "an empty value", text: "A=", value: "" },
  { name: "an empty value with a comment", text: "A= # none", value: "" },
  { name: "single quotes", text: "A='a # \\n b'", value: "a # \\n b" },
  { name: "double quotes", text: 'A="a\\n\\"b\\""', value: 'a\n"b"' },
  { name: "JSON in single quotes", text: `A='{"a":1}'`, value: '{"a":1}' },
  { name: "bare JSON", text: 'A={"a":"b c"}', value: '{"a":"b c"}' },
  { name: "a value over two lines", text: 'A="1\n2"\nB=3', value: "1\n2" },
  { name: "Windows line ends", text: "A=1\r\nB=2\r\n", value: "1" },
  { name: "a byte order mark", text: "\uFEFFA=1", value: "1" },
  { name: "the last of two", text: "A=1\nA=2", value: "2" },
];

test.each(CASES)("reads $name", ({ text, value }) => {
  expect(parseEnvFile(text).get("A")).toBe(value);
});

test("passes over comments and lines that are none", () => {
  expect([...parseEnvFile("# A=1\n\nnonsense\n=2\nB=3")]).toEqual([["B", "3"]]);
});

test("reads back any text in double quotes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (value) => {
      const quoted = value.replaceAll("\r\n", "\n").replaceAll("\\", "\\\\").replaceAll('"', '\\"');
      expect(parseEnvFile(`A="${quoted}"`).get("A")).toBe(value.replaceAll("\r\n", "\n"));
    }),
  );
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-settings-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = (...entries: [string, string][]) => new Map(entries);

test("settings are kept in a file that only this user can read, with any value", () => {
  const path = join(folder, "new.env");
  const values = settings(
    ["A", "plain-1"],
    ["B", "with blank # and $x"],
    ["C", `both ' and " and \\ and $x`],
    ["D", "two\nlines"],
  );
  addSettings(path, values);
  expect(parseEnvFile(readFileSync(path, "utf8"))).toEqual(values);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a file keeps what it has, and is closed to others", () => {
  const path = join(folder, "old.env");
  writeFileSync(path, "OTHER=1", { mode: 0o644 });
  addSettings(path, settings(["A", "2"]));
  expect(readFileSync(path, "utf8")).toBe("OTHER=1\nA=2\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(() => addSettings(path, settings(["A", "3"]))).toThrow("has A already; change it there");
});

test("a file that would not be read is not written", () => {
  const open = join(folder, "open.env");
  writeFileSync(open, "OTHER=1\n");
  chmodSync(open, 0o666);
  expect(() => addSettings(open, settings(["A", "2"]))).toThrow("other users can change it");
  expect(readFileSync(open, "utf8")).toBe("OTHER=1\n");
  const link = join(folder, "link.env");
  symlinkSync(join(folder, "elsewhere"), link);
  expect(() => addSettings(link, settings(["A", "2"]))).toThrow();
  expect(() => statSync(join(folder, "elsewhere"))).toThrow();
});
