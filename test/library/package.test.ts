import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { MemoryEngine, startHttpServer } from "../../src/library.ts";
import { EXAMPLE_MODEL, examplesOf } from "./examples.ts";

/**
 * The package as its users get it: packed, unpacked into an empty project, compiled against and run. The registry is left out:
 * what the package depends on is linked from this checkout, without what is here for development only.
 */
const ROOT = join(import.meta.dir, "../..");
const manifest: {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
} = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const clientManifest: {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
} = JSON.parse(readFileSync(join(ROOT, "clients/js/package.json"), "utf8"));

const place = mkdtempSync(join(tmpdir(), "svc-package-"));
const app = join(place, "app");
const installed = join(app, "node_modules/svc");
const installedClient = join(app, "node_modules/svc-client");
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
    if (name.startsWith(".") || name === "svc-client") return [];
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
  renderSystemInstructions,
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
  console.log(found.metadata.backendsUsed.join(), renderSystemInstructions(found.bundle) === "");
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

/** A program for every runtime: all adapters over a server. */
const ADAPTERS = `
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemoryChatHistory, MemoryRetriever } from "svc-client/langchain";
import { memoryMiddleware, memoryTools } from "svc-client/ai-sdk";
import { remoteMemory, SvcError } from "svc-client/remote";

const [url, userId] = process.argv.slice(2);
const memory = remoteMemory({ url, apiKey: "key" });
const history = new MemoryChatHistory({ memory, userId, sessionId: "s" });
await history.addMessages([new HumanMessage("I live in Kiel"), new AIMessage("Noted")]);
console.log((await history.getMessages()).map((one) => one.getType() + " " + one.content).join());
await history.clear();
console.log((await history.getMessages()).length);
const [document] = await new MemoryRetriever({ memory, userId, topK: 1 }).invoke("Who lives in Kiel?");
console.log(document.pageContent, document.metadata.node_type, document.metadata.created_at.length);
const { memory_retrieve } = memoryTools({ memory, userId });
const { results } = await memory_retrieve.execute({ query: "Kiel" }, { toolCallId: "1", messages: [] });
console.log(results[0].content);
const { transformParams } = memoryMiddleware({ memory, userId });
const prompt = [{ role: "user", content: [{ type: "text", text: "Where do I live?" }] }];
const params = await transformParams({ type: "generate", params: { prompt } });
console.log(params.prompt[0].content[0].text.includes("I live in Kiel"));
const error = await remoteMemory({ url }).retrieve({ query: "x", userId }).catch((it) => it);
console.log(error instanceof SvcError, error.code);
`;

/** A program with both packages, each of which has its own class of errors. */
const BESIDE = `
import { MemoryEngine } from "svc";
import { memoryTools } from "svc-client/ai-sdk";

await using memory = await MemoryEngine.create({ pack_path: "./beside.pack" });
const { memory_archive_node: archive } = memoryTools({ memory, userId: "anna" });
console.log(await archive.execute({ node_id: "00000000-0000-4000-8000-000000000000" }, { toolCallId: "1" }));
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
let clientFiles: readonly string[] = [];

/** Packs a package and unpacks it. @returns the files in it */
function install(source: string, target: string): readonly string[] {
  const archive = join(place, `${basename(target)}.tgz`);
  const pack = ["pm", "pack", "--gzip-level", "0", "--filename", archive, "--quiet"];
  const packed = run([process.execPath, ...pack], source);
  if (!existsSync(archive)) throw new Error(`nothing was packed: ${packed.output}`);
  mkdirSync(target, { recursive: true });
  const unpacked = run(["tar", "-xzf", archive, "--strip-components=1", "-C", target], place);
  if (unpacked.exitCode !== 0) throw new Error(unpacked.output);
  return readdirSync(target, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1));
}

beforeAll(() => {
  files = install(ROOT, installed);
  clientFiles = install(join(ROOT, "clients/js"), installedClient);
  for (const name of packages()) if (!(name in manifest.devDependencies)) link(name);
  link("@types/bun");
  for (const name of Object.keys(clientManifest.peerDependencies)) {
    if (!existsSync(join(app, "node_modules", name))) link(name);
  }
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", type: "module" }));
  writeFileSync(join(app, "main.ts"), PROGRAM);
  writeFileSync(join(app, "examples.ts"), examplesOf("docs/library.md"));
  writeFileSync(join(app, "frameworks.ts"), examplesOf("docs/frameworks.md"));
  writeFileSync(
    join(app, "wrong.ts"),
    `import { memoryTools } from "svc-client/ai-sdk"; memoryTools({ userId: "anna" });\n`,
  );
  writeFileSync(join(app, "model.ts"), EXAMPLE_MODEL);
  writeFileSync(join(app, "adapters.mjs"), ADAPTERS);
  writeFileSync(join(app, "beside.mjs"), BESIDE);
}, 300_000);

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
      /^(src\/(adapters|app|capture|config|domain|engine|lib|ports|surface|http-library\.ts|library\.ts|requires-bun\.js)|dist\/lib|docs\/[\w.-]+|[A-Z]+(\.md)?|package\.json)$/;
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

  // The declarations of the frameworks themselves do not satisfy every rule.
  test.each(COMPILERS)(
    "compiles with its client and the examples of both pages, and has declarations without faults, under $name",
    ({ compiler, compilerOptions }) => {
      const config = join(app, `${compiler}.json`);
      const sources = ["main.ts", "examples.ts", "frameworks.ts", "wrong.ts"];
      writeFileSync(config, JSON.stringify({ compilerOptions, files: sources }));
      const tsc = join(ROOT, "node_modules", compiler, "bin/tsc");
      const { output } = run([process.execPath, tsc, "--pretty", "false", "-p", config], app);
      const faults = output
        .split("\n")
        .filter(
          (line) => line.includes(": error TS") && !/node_modules\/(?!svc(-client)?\/)/.test(line),
        );
      expect(faults).toEqual([expect.stringContaining("wrong.ts(1,")]);
      expect(output).toContain("Property 'memory' is missing");
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
  }, 120_000);

  test.each(["bun", "node"])(
    "of the client works over a server, under %s",
    async (runtime) => {
      await using engine = await MemoryEngine.create({
        pack_path: join(place, `${runtime}.pack`),
        // What was just said is found however long its model takes to load.
        materialization_budget_ms: 60_000,
      });
      await using server = await startHttpServer({ engine, port: 0, apiKey: "key" });
      const command = runtime === "bun" ? process.execPath : runtime;
      const child = Bun.spawn([command, "adapters.mjs", server.url, runtime], {
        cwd: app,
        stdin: "ignore",
        stderr: "pipe",
      });
      const [output, errors] = [await child.stdout.text(), await child.stderr.text()];
      expect(errors).toBe("");
      expect(output.trim().split("\n")).toEqual([
        "human I live in Kiel,ai Noted",
        "0",
        "I live in Kiel note 27",
        "I live in Kiel",
        "true",
        "true unauthenticated",
      ]);
    },
    120_000,
  );

  test("of the client tells a model why an engine of the library refuses", () => {
    const { exitCode, output } = run([process.execPath, "beside.mjs"], app);
    expect(output).toContain("Node '00000000-0000-4000-8000-000000000000' not found");
    expect(exitCode).toBe(0);
  }, 120_000);

  test("of the client holds what a program needs, and nothing else", () => {
    const needed = ["remote", "local", "ai-sdk", "langchain", "openai-agents", "mastra"].flatMap(
      (name) => [`dist/${name}.js`, `dist/${name}.d.ts`],
    );
    needed.push("README.md", "dist/LICENSE", "package.json");
    const bytes = clientFiles.map((path) => statSync(join(installedClient, path)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
    expect(needed.filter((path) => !clientFiles.includes(path))).toEqual([]);
    expect(
      clientFiles.filter((path) => !/^dist\/|^README\.md$|^package\.json$/.test(path)),
    ).toEqual([]);
  });

  test("of the client brings no framework along: each is for programs that have it", () => {
    expect(clientManifest.dependencies).toBeUndefined();
    for (const name of Object.keys(clientManifest.peerDependencies)) {
      expect(clientManifest.peerDependenciesMeta[name]?.optional).toBe(true);
    }
    const loads = (path: string) =>
      new Bun.Transpiler({ loader: "js" })
        .scanImports(readFileSync(join(installedClient, "dist", path), "utf8"))
        .map((found) => found.path)
        .filter((name) => !name.startsWith("."));
    expect(loads("remote.js")).toEqual([]);
    expect(loads("ai-sdk.js")).toEqual(["zod"]);
    expect(loads("langchain.js").filter((name) => !name.startsWith("@langchain/core/"))).toEqual(
      [],
    );
  });

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
