import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { libraryExamples } from "./examples.ts";

/**
 * The package as its users get it: packed, unpacked into an empty project, compiled against and run. The registry is left out:
 * what the package depends on is linked from this checkout, without what is here for development only.
 */
const ROOT = join(import.meta.dir, "../..");
const manifest: {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
} = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

const place = mkdtempSync(join(tmpdir(), "svc-package-"));
const app = join(place, "app");
const installed = join(app, "node_modules/svc");
afterAll(() => rmSync(place, { recursive: true, force: true }));

function run(command: readonly string[], cwd: string) {
  const child = Bun.spawnSync([...command], {
    cwd,
    env: {
      ...process.env,
      // The package's own scripts say `bun`.
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
      XDG_CACHE_HOME: join(place, "cache"),
    },
    stdin: "ignore",
  });
  return { exitCode: child.exitCode, output: `${child.stdout}${child.stderr}` };
}

function link(name: string): void {
  const path = join(app, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules", name), path);
}

/** The packages of this checkout. */
function packages(): readonly string[] {
  return readdirSync(join(ROOT, "node_modules")).flatMap((name) => {
    if (name.startsWith(".")) return [];
    if (!name.startsWith("@")) return [name];
    return readdirSync(join(ROOT, "node_modules", name)).map((inner) => `${name}/${inner}`);
  });
}

const PROGRAM = `
import {
  EncryptionError,
  MemoryClient,
  MemoryEngine,
  NODE_TYPES,
  SvcError,
  formatForLlm,
  type MemoryNode,
  type RetrievalResponse,
} from "svc";

const key: string = "passphrase:correct horse battery staple";
const settings = { pack_path: "./sealed.pack", encryption_enabled: true, encryption_key: key };
{
  await using engine = await MemoryEngine.create(settings);
  await engine.store({ content: "Anna prefers tea to coffee", userId: "anna", nodeType: "preference" });
  const found: RetrievalResponse = await engine.retrieve({ query: "favourite drink?", userId: "anna" });
  const best: MemoryNode | undefined = found.results[0]?.node;
  console.log(best?.content, best?.nodeType, NODE_TYPES.length);
  console.log(found.metadata.backendsUsed.join(), formatForLlm(found.results, "?").includes("tea"));
}
try {
  await MemoryEngine.create({ ...settings, encryption_key: "passphrase:another one altogether" });
} catch (error) {
  console.log(error instanceof EncryptionError, error instanceof SvcError && error.code);
}
{
  using client = MemoryClient.create(settings);
  const nodes: readonly MemoryNode[] = client.queryNodes({ userId: "anna" });
  console.log(nodes.map(({ content }) => content).join());
  // @ts-expect-error: a memory has an owner
  const wrong = () => client.store({ content: "x" });
  try { wrong(); } catch (error) { if (error instanceof Error) console.log(error.name); }
}
`;

const STRICT = { strict: true, noEmit: true, exactOptionalPropertyTypes: true };

/** Compilers that users have, and their settings; the declarations have to satisfy each of them. */
const COMPILERS = [
  {
    name: "TypeScript 5.9, a bundler and the types of Bun",
    compiler: "typescript",
    compilerOptions: {
      ...STRICT,
      target: "ESNext",
      lib: ["ESNext"],
      module: "Preserve",
      moduleResolution: "bundler",
      types: ["bun"],
      skipLibCheck: true,
    },
  },
  {
    name: "TypeScript 7, the rules of Node, without types of Bun, every declaration checked",
    compiler: "typescript-native",
    compilerOptions: {
      ...STRICT,
      target: "ESNext",
      lib: ["ESNext", "DOM"],
      module: "NodeNext",
      moduleResolution: "NodeNext",
      types: [],
      skipLibCheck: false,
    },
  },
];

let files: readonly string[] = [];

beforeAll(() => {
  const packed = run(
    [process.execPath, "pm", "pack", "--gzip-level", "0", "--destination", place, "--quiet"],
    ROOT,
  );
  const archive = readdirSync(place).find((name) => name.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`nothing was packed: ${packed.output}`);
  mkdirSync(installed, { recursive: true });
  const unpacked = run(
    ["tar", "-xzf", join(place, archive), "--strip-components=1", "-C", installed],
    place,
  );
  if (unpacked.exitCode !== 0) throw new Error(unpacked.output);
  files = readdirSync(installed, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
  for (const name of packages()) if (!(name in manifest.devDependencies)) link(name);
  link("@types/bun");
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", type: "module" }));
  writeFileSync(join(app, "main.ts"), PROGRAM);
  writeFileSync(join(app, "examples.ts"), libraryExamples());
}, 120_000);

describe("the package", () => {
  test("holds what a program needs", () => {
    const needed = [
      "LICENSE",
      "NOTICE",
      "README.md",
      "docs/library.md",
      "dist/lib/types/library.d.ts",
      "src/library.ts",
      "src/app/client/worker.ts",
      "src/adapters/embedding/worker.ts",
      "src/adapters/embedding/models/BAAI/bge-small-en-v1.5/onnx/model_quantized.onnx",
      "src/adapters/embedding/models/BAAI/bge-small-en-v1.5/LICENSE",
    ];
    expect(needed.filter((path) => !files.includes(path))).toEqual([]);
    const libraries = files.filter((path) => /\.(so|dll|dylib)$/.test(path));
    expect(libraries.map((path) => path.split("/").slice(-2).join("/")).sort()).toEqual([
      "darwin-arm64/svccrypt.dylib",
      "darwin-arm64/svckernel.dylib",
      "darwin-arm64/svcsqlite.dylib",
      "linux-arm64/svccrypt.so",
      "linux-arm64/svckernel.so",
      "linux-x64/svccrypt.so",
      "linux-x64/svckernel.so",
      "windows-x64/svccrypt.dll",
      "windows-x64/svckernel.dll",
    ]);
  });

  test("holds nothing else: no tests, measurements, other surfaces or built programs", () => {
    const folders = new Set(files.map((path) => path.split("/").slice(0, 2).join("/")));
    const allowed =
      /^(src\/(adapters|app|config|domain|engine|lib|ports|surface|http-library\.ts|library\.ts|requires-bun\.js)|dist\/lib|docs\/[\w.-]+|[A-Z]+(\.md)?|package\.json)$/;
    expect([...folders].filter((folder) => !allowed.test(folder))).toEqual([]);
    expect(files.filter((path) => /\.(test\.ts|pack|tgz|env)$/.test(path))).toEqual([]);
    expect(files.filter((path) => /^src\/surface\/(cli|mcp)\//.test(path))).toEqual([]);
    expect(files.filter((path) => /\.[chs]$/.test(path))).toEqual([]);
  });

  test("imports only what it depends on, or carries", () => {
    const transpiler = new Bun.Transpiler({ loader: "ts" });
    const isThere = (path: string, to: string): boolean => {
      if (to.startsWith(".")) return existsSync(join(installed, dirname(path), to));
      const name = /^(@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? "";
      return /^(bun|node):|^bun$/.test(to) || name in manifest.dependencies;
    };
    const missing = files
      .filter((path) => path.startsWith("src/") && path.endsWith(".ts"))
      .flatMap((path) =>
        transpiler
          .scanImports(readFileSync(join(installed, path), "utf8"))
          .filter((found) => !isThere(path, found.path))
          .map((found) => `${path}: ${found.path}`),
      );
    expect(missing).toEqual([]);
  });

  test.each(COMPILERS)(
    "compiles, with the examples of its page, under $name",
    ({ compiler, compilerOptions }) => {
      const config = join(app, `${compiler}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions, files: ["main.ts", "examples.ts"] }));
      const tsc = join(ROOT, "node_modules", compiler, "bin/tsc");
      const { exitCode, output } = run([process.execPath, tsc, "-p", config], app);
      expect(output).toBe("");
      expect(exitCode).toBe(0);
    },
    120_000,
  );

  test("works in a project of its own: encrypted, with its model, in both styles", () => {
    const { exitCode, output } = run([process.execPath, "main.ts"], app);
    expect(output.trim().split("\n")).toEqual([
      "Anna prefers tea to coffee preference 9",
      expect.stringMatching(/^\S*VECTOR\S* true$/),
      "true encryption_failed",
      "Anna prefers tea to coffee",
      "InvalidArgumentError",
    ]);
    expect(exitCode).toBe(0);
    expect(readFileSync(join(app, "sealed.pack")).subarray(0, 6).toString()).not.toBe("SQLite");
  }, 60_000);

  test.each([
    'import("svc").catch(({ message }) => console.log(message))',
    'import { MemoryEngine, startHttpServer } from "svc"; console.log(MemoryEngine, startHttpServer)',
    'import * as svc from "svc"; console.log(svc)',
  ])("tells another runtime what it needs: %s", (source) => {
    const { output } = run(["node", "--input-type=module", "-e", source], app);
    expect(output).toContain("svc runs on Bun 1.4.5 or newer");
    expect(output).not.toContain("SyntaxError");
  });
});
