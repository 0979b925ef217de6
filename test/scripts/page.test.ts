/** The bundle of the inspector, as it goes into the executable. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildPage, generateClient, type PageFile } from "../../scripts/build/page.ts";

setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "../..");
const KB = 1000;

const files = await buildPage(ROOT);
const gzipped = (wanted: (file: PageFile) => boolean): number =>
  files
    .filter(wanted)
    .reduce((sum, { content }) => sum + gzipSync(content, { level: 9 }).length, 0);
/** The neighbourhood is drawn by a library of its own, which is loaded when one is shown. */
const isGraph = ({ name }: PageFile): boolean => /graph/.test(name);

test("the page without the graph is at most 90 kB, compressed, of which scripts are 70 and styles 12", () => {
  expect(gzipped((file) => !isGraph(file))).toBeLessThanOrEqual(90 * KB);
  expect(gzipped((file) => file.name.endsWith(".js") && !isGraph(file))).toBeLessThanOrEqual(
    70 * KB,
  );
  expect(gzipped(({ name }) => name.endsWith(".css"))).toBeLessThanOrEqual(12 * KB);
});

test("two builds have the same names and bytes", async () => {
  const again = await buildPage(ROOT);
  expect(again.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
  expect(
    again.every(({ content }, index) =>
      files[index]?.content.every((byte, at) => byte === content[at]),
    ),
  ).toBe(true);
});

test("the page and the names of its files hold no path of the build, no development code and no other host", () => {
  const texts = files.map(({ content }) => new TextDecoder().decode(content));
  const hosts = texts.flatMap((text) => text.match(/https?:\/\/[\w.]+/g) ?? []);
  // Names of XML, which nobody asks.
  expect(hosts.filter((host) => !host.startsWith("http://www.w3"))).toEqual([]);
  expect(texts.filter((text) => text.includes(ROOT) || text.includes("jsxDEV"))).toEqual([]);
  expect(
    files.map(({ name }) => name).filter((name) => !/^$|^[\w-]+-\w{8}\.(js|css)$/.test(name)),
  ).toEqual([]);
});

test("its client is generated where nothing was built before", async () => {
  const root = mkdtempSync(join(tmpdir(), "svc-page-"));
  try {
    const generator = "node_modules/@hey-api/openapi-ts";
    mkdirSync(join(root, "node_modules/@hey-api"), { recursive: true });
    symlinkSync(join(ROOT, generator), join(root, generator), "junction");
    await generateClient(root);
    expect(existsSync(join(root, "src/page/client/sdk.gen.ts"))).toBe(true);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
