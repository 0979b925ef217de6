import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { TARGETS, type Target } from "../../scripts/build/targets.ts";
import { tar } from "../../scripts/release/archive.ts";
import { npmPlatform } from "../../scripts/release/npm-packages.ts";
import { makeRelease } from "../../scripts/release/release.ts";
import { wheel } from "../../scripts/release/wheel.ts";
import { startRegistry } from "./npm-registry.ts";

const ROOT = join(import.meta.dir, "../..");
const { version } = manifest;
const place = mkdtempSync(join(tmpdir(), "svc-release-"));
const release = join(place, "release");
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** A program that says how it was started: what is tried here is how programs are packed. */
async function program(target: Target): Promise<string> {
  const path = join(place, `program-${target}`);
  writeFileSync(path, `#!/bin/sh\necho "${target} got: $*"\ntest "$1" = fail && exit 3\nexit 0\n`);
  chmodSync(path, 0o755);
  return path;
}

async function makeInto(folder: string, targets: readonly Target[]): Promise<void> {
  const address = { namespace: "io.github.ada", releaseUrl: "https://example.com/v1" };
  await makeRelease({ root: ROOT, folder, targets, ...address, level: 6, program }, () => {});
}

function run(command: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
  });
  return { code: exitCode, output: stdout.toString(), errors: stderr.toString() };
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

// The list of parts names the files of every target; those of other platforms would have to be fetched.
beforeAll(async () => await makeInto(release, ["linux-x64"]));

test("a wheel installs the program of its platform, which Python finds and a shell starts; equal inputs give equal bytes", async () => {
  const target = "linux-x64";
  const input = {
    product: { ...manifest, name: "svc" },
    target,
    program: readFileSync(await program(target)),
    papers: [{ name: "LICENSE", bytes: readFileSync(join(ROOT, "LICENSE")) }],
    level: 6,
  } as const;
  const made = wheel(input);
  expect(made.bytes).toEqual(wheel(input).bytes);
  expect(made.name).toBe(`svc_memory_bin-${version}-py3-none-manylinux_2_28_x86_64.whl`);
  writeFileSync(join(place, made.name), made.bytes);
  const folder = join(place, "site");
  const pip = ["python3", "-m", "pip", "--isolated", "--disable-pip-version-check", "install"];
  const installed = run([...pip, "--no-index", "--no-deps", "--target", folder, made.name], place);
  expect([installed.code, installed.errors]).toEqual([0, expect.any(String)]);
  const code = "import subprocess, svc_memory_bin; subprocess.run([svc_memory_bin.program(), 'a'])";
  const env = { PYTHONPATH: folder };
  expect(run(["python3", "-c", code], place, env).output).toBe(`${target} got: a\n`);
  expect(run([join(folder, "bin/svc"), "b"], place, env).output).toBe(`${target} got: b\n`);
});

test("a release has a package for every channel, and the sums of all files that are downloaded", () => {
  expect(filesBelow(release)).toEqual([
    "SHA256SUMS",
    "container/Containerfile",
    "container/LICENSE",
    "container/NOTICE",
    "container/README.md",
    "container/compose.yaml",
    "container/svc",
    `npm/svc-memory-${version}.tgz`,
    `npm/svc-memory-linux-x64-${version}.tgz`,
    "server.json",
    `svc-${version}-linux-x64.tar.gz`,
    "svc-linux-x64.mcpb",
    `svc-memory_${version}_amd64.deb`,
    "svc.cdx.json",
    "svc.rb",
  ]);
  const { code, output } = run(["sha256sum", "--check", "SHA256SUMS"], release);
  expect(code).toBe(0);
  expect(output.trim().split("\n")).toHaveLength(8);
});

test("two releases have the same bytes", async () => {
  const again = join(place, "elsewhere", "again");
  await makeInto(again, ["linux-x64"]);
  for (const name of filesBelow(release)) {
    expect({
      name,
      same: readFileSync(join(again, name)).equals(readFileSync(join(release, name))),
    }).toEqual({ name, same: true });
  }
});

test("the archive holds the program, which may be run, in a folder of its own", () => {
  const folder = join(place, "unpacked");
  mkdirSync(folder);
  const archive = join(release, `svc-${version}-linux-x64.tar.gz`);
  expect(run(["tar", "-xzf", archive], folder)).toMatchObject({ code: 0, errors: "" });
  const inside = join(folder, `svc-${version}-linux-x64`);
  expect(readdirSync(inside).sort()).toEqual(["LICENSE", "NOTICE", "README.md", "svc"]);
  expect(run([join(inside, "svc"), "a"], folder).output).toBe("linux-x64 got: a\n");
});

describe("npx svc-memory, with Node alone", () => {
  const node = dirname(Bun.which("node") ?? "/usr/bin/node");
  const npx = Bun.which("npx");
  const start = async (folder: string, args: readonly string[]) => {
    const registry = await startRegistry(folder);
    const home = mkdtempSync(join(place, "home-"));
    try {
      const child = Bun.spawn([npx ?? "npx", "-y", "svc-memory", ...args], {
        cwd: home,
        env: {
          HOME: home,
          PATH: `${node}:/usr/bin:/bin`,
          npm_config_registry: registry.url,
          npm_config_update_notifier: "false",
        },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [output, errors, code] = await Promise.all([
        child.stdout.text(),
        child.stderr.text(),
        child.exited,
      ]);
      return { code, output, errors };
    } finally {
      registry.stop();
    }
  };

  test("starts the program of this platform with all arguments, and ends as it ends", async () => {
    expect(await start(join(release, "npm"), ["demo", "--a", "b c"])).toMatchObject({
      code: 0,
      output: "linux-x64 got: demo --a b c\n",
    });
    expect(await start(join(release, "npm"), ["fail"])).toMatchObject({ code: 3 });
  }, 120_000);

  test("says which platforms there are when the package of this one is missing", async () => {
    const folder = join(place, "npm-without");
    mkdirSync(folder);
    const name = `svc-memory-${version}.tgz`;
    writeFileSync(join(folder, name), readFileSync(join(release, "npm", name)));
    const { code, errors } = await start(folder, ["demo"]);
    expect(code).toBe(1);
    expect(errors).toContain("the package svc-memory-linux-x64 is not installed");
    expect(errors).toContain("there are: linux-x64");
  }, 120_000);
});

const dpkg = Bun.which("dpkg-deb");
test.skipIf(dpkg === null)(
  `the Debian package installs the program${dpkg === null ? ": left out, dpkg-deb is not there" : ""}`,
  () => {
    const file = join(release, `svc-memory_${version}_amd64.deb`);
    const field = (name: string) => run(["dpkg-deb", "-f", file, name], place).output.trim();
    expect([field("Package"), field("Version"), field("Architecture")]).toEqual([
      "svc-memory",
      version,
      "amd64",
    ]);
    const folder = join(place, "installed");
    expect(run(["dpkg-deb", "-x", file, folder], place).code).toBe(0);
    expect(run([join(folder, "usr/bin/svc"), "x"], place).output).toBe("linux-x64 got: x\n");
  },
);

test("the entry for the registry of MCP and the npm package name the same server", async () => {
  const server = JSON.parse(readFileSync(join(release, "server.json"), "utf8"));
  const packed = readFileSync(join(release, `npm/svc-memory-${version}.tgz`));
  const files = await new Bun.Archive(packed).files("package/package.json");
  const npm = JSON.parse((await files.get("package/package.json")?.text()) ?? "");
  expect(npm.mcpName).toBe(server.name);
  expect(server.packages[0]).toMatchObject({
    registryType: "npm",
    identifier: npm.name,
    version: npm.version,
  });
  expect(npm.optionalDependencies).toEqual({ "svc-memory-linux-x64": version });
});

test("the formula and the sums name the same archive", () => {
  const sums = readFileSync(join(release, "SHA256SUMS"), "utf8");
  const formula = readFileSync(join(release, "svc.rb"), "utf8");
  const sha256 = /sha256 "([0-9a-f]{64})"/.exec(formula)?.[1];
  expect(sums).toContain(`${sha256}  svc-${version}-linux-x64.tar.gz\n`);
  expect(formula).toContain(`url "https://example.com/v1/svc-${version}-linux-x64.tar.gz"`);
});

test("the list of parts names every dependency with its digest, the runtime and the native files", () => {
  const list = JSON.parse(readFileSync(join(release, "svc.cdx.json"), "utf8"));
  expect(list).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
  const parts: { type: string; name: string; version: string; hashes?: { content: string }[] }[] =
    list.components;
  for (const [name, wanted] of Object.entries(manifest.dependencies)) {
    const part = parts.find((one) => one.name === name);
    expect({ name, version: part?.version, digits: part?.hashes?.[0]?.content.length }).toEqual({
      name,
      version: wanted,
      digits: 128,
    });
  }
  expect(parts.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "bun",
      "openssl",
      "sqlite",
      "linux-x64/svccrypt.so",
      "linux-x64/libonnxruntime.so.1",
    ]),
  );
  expect(parts.map(({ name }) => name)).not.toContain("@biomejs/biome");
});

test("a package of each platform tells npm where it may be installed", () => {
  expect(TARGETS.map((target) => Object.values(npmPlatform(target)).join())).toEqual([
    "linux,x64",
    "linux,arm64",
    "darwin,arm64",
    "win32,x64",
  ]);
});

test("a name that an archive has no room for is refused", () => {
  expect(() => tar([{ name: "a".repeat(101), bytes: new Uint8Array() }])).toThrow(
    "too long a name",
  );
});
