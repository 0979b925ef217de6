import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { productOf } from "../../scripts/bundle/bundle.ts";
import { manifestOf } from "../../scripts/bundle/manifest.ts";
import { serverJson } from "../../scripts/bundle/server-json.ts";
import { zip } from "../../scripts/bundle/zip.ts";

const ROOT = join(import.meta.dir, "../..");
const HOST = `${process.platform}-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), "svc-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const product = await productOf(ROOT);
const BUNDLE = { name: "svc-linux-x64.mcpb", sha256: "0f".repeat(32) };
const PUBLICATION = {
  namespace: "io.github.ada",
  releaseUrl: "https://example.com/v1/",
  bundles: [BUNDLE],
};

describe("a zip file", () => {
  const entries = [
    {
      name: "a/run",
      bytes: new TextEncoder().encode("#!/bin/sh\n".repeat(500)),
      isExecutable: true,
    },
    { name: "empty", bytes: new Uint8Array(), isExecutable: false },
  ];

  test.each([0, 6])("holds its files, compressed at level %d, and who may run them", (level) => {
    const packed = zip(entries, level);
    const files = unzipSync(packed);
    expect(Object.keys(files)).toEqual(["a/run", "empty"]);
    expect(files["a/run"]).toEqual(entries[0]!.bytes);
    expect(packed.byteLength < 1000).toBe(level > 0);
    expect(modesOf(packed)).toEqual([0o100755, 0o100644]);
    expect(zip(entries, level)).toEqual(packed);
  });
});

describe("server.json", () => {
  test("has what the registry asks for", () => {
    expect(serverJson(product, PUBLICATION)).toEqual({
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
      name: "io.github.ada/svc",
      title: "svc memory",
      description: product.description,
      version: product.version,
      packages: [
        {
          registryType: "mcpb",
          identifier: "https://example.com/v1/svc-linux-x64.mcpb",
          version: product.version,
          fileSha256: BUNDLE.sha256,
          transport: { type: "stdio" },
        },
      ],
    });
  });

  test.each([
    { name: "a namespace that is no reverse domain", change: { namespace: "ada" } },
    { name: "a namespace with a slash", change: { namespace: "io.github/ada" } },
    { name: "an address without TLS", change: { releaseUrl: "http://example.com" } },
    { name: "an address that is none", change: { releaseUrl: "releases" } },
    { name: "no bundle", change: { bundles: [] } },
    { name: "a checksum that is none", change: { bundles: [{ ...BUNDLE, sha256: "0F" }] } },
  ])("is not made with $name", ({ change }) => {
    expect(() => serverJson(product, { ...PUBLICATION, ...change })).toThrow();
  });

  test.each([
    { name: "a description of more than 100 characters", change: { description: "x".repeat(101) } },
    { name: "a range of versions", change: { version: "^1.2.3" } },
  ])("is not made of $name", ({ change }) => {
    expect(() => serverJson({ ...product, ...change }, PUBLICATION)).toThrow();
  });
});

describe("the manifest of a bundle", () => {
  test("starts the program in the folder of the bundle with the pack that the user names", () => {
    const manifest = manifestOf(product, "darwin-arm64");
    expect(manifest).toMatchObject({
      manifest_version: "0.3",
      name: "svc",
      version: product.version,
      author: { name: "svc" },
      server: { type: "binary", entry_point: "server/svc" },
      compatibility: { platforms: ["darwin"] },
    });
    const { command, args } = manifest.server.mcp_config;
    expect(command).toBe("\u0024{__dirname}/server/svc");
    expect(args).toEqual(["mcp", "--db-path", "\u0024{user_config.pack}"]);
    expect(manifest.user_config["pack"]).toMatchObject({ type: "string", required: true });
    // As `svc mcp` does.
    expect(manifest.user_config["pack"]?.description).toContain("it is made, encrypted");
    const names = manifest.tools.map(({ name }) => name);
    expect(names).toContain("memory_retrieve");
    expect(new Set(names).size).toBe(names.length);
  });
});

test("the manifest for Windows names a program that Windows runs", () => {
  const { server, compatibility } = manifestOf(product, "windows-x64");
  expect(compatibility.platforms).toEqual(["win32"]);
  expect(server.entry_point).toBe("server/svc.exe");
  expect(server.mcp_config.command).toBe("\u0024{__dirname}/server/svc.exe");
});

describe("scripts/bundle.ts", () => {
  async function bundle(...args: string[]) {
    const script = join(ROOT, "scripts/bundle.ts");
    const child = Bun.spawn([process.execPath, script, "--folder", folder, ...args], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  }

  test("says what is missing when nothing was built", async () => {
    const { code, stderr } = await bundle();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `bundle: nothing was built in ${folder}; run: bun scripts/build.ts\n`,
    });
  }, 120_000);

  test("packs every program that was built, and names them with their checksums", async () => {
    for (const name of ["svc", "svc-darwin-arm64"]) {
      writeFileSync(join(folder, name), `#!/bin/sh\necho ${name}\n`);
      chmodSync(join(folder, name), 0o755);
    }
    const address = ["--namespace", "io.github.ada", "--release-url", "https://example.com/v1"];
    const { code, stdout, stderr } = await bundle(...address);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain("give --namespace");
    const server = JSON.parse(readFileSync(join(folder, "server.json"), "utf8"));
    const names = [`svc-${HOST}.mcpb`, "svc-darwin-arm64.mcpb"];
    expect(server.name).toBe("io.github.ada/svc");
    expect(server.packages).toEqual(
      names.map((name) => ({
        registryType: "mcpb",
        identifier: `https://example.com/v1/${name}`,
        version: product.version,
        fileSha256: new Bun.CryptoHasher("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex"),
        transport: { type: "stdio" },
      })),
    );
    const files = unzipSync(readFileSync(join(folder, names[0]!)));
    expect(Object.keys(files)).toEqual(["manifest.json", "server/svc", "LICENSE", "NOTICE"]);
    expect(new TextDecoder().decode(files["server/svc"])).toContain("echo svc\n");
  }, 120_000);

  test("says that an address of an example cannot be published", async () => {
    const { code, stdout } = await bundle();
    expect(code).toBe(0);
    expect(stdout).toContain("com.example/svc");
    expect(stdout).toContain("give --namespace and --release-url");
  }, 120_000);
});

/** The modes of the files in a zip, from its central directory. */
function modesOf(packed: Uint8Array): readonly number[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const modes: number[] = [];
  for (let at = 0; at < packed.byteLength - 4; at += 1) {
    if (view.getUint32(at, true) === 0x02014b50) modes.push(view.getUint32(at + 38, true) >>> 16);
  }
  return modes;
}
