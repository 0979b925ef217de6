import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

const ROOT = join(import.meta.dir, "..");
const CONFIG = join(ROOT, "scripts", "config", "layers.cjs");

/** A file that breaks one rule: `from` imports `to`, which is a file below src or a package. */
type Plant = { readonly rule: string; readonly from: string; readonly to: string };

const PLANTS: readonly Plant[] = [
  { rule: "lib-may-import-only-[]", from: "lib/up", to: "domain/target" },
  { rule: "domain-may-import-only-[lib]", from: "domain/up", to: "ports/target" },
  { rule: "config-may-import-only-[lib,domain]", from: "config/up", to: "engine/target" },
  { rule: "ports-may-import-only-[lib,domain]", from: "ports/up", to: "engine/target" },
  {
    rule: "engine-may-import-only-[lib,domain,ports]",
    from: "engine/up",
    to: "adapters/sqlite/target",
  },
  {
    rule: "adapters-may-import-only-[lib,domain,ports]",
    from: "adapters/sqlite/up",
    to: "engine/target",
  },
  {
    rule: "surface-may-import-only-[lib,domain,config,engine]",
    from: "surface/http/up",
    to: "adapters/sqlite/target",
  },
  {
    rule: "surface-may-import-only-[lib,domain,config,engine]",
    from: "surface/http/ports",
    to: "ports/target",
  },
  ...["http", "mcp", "contract", "listener"].flatMap((part) =>
    ["app", "packs", "assistants", "doctor"].map((folder) => ({
      rule: "surface-may-import-only-[lib,domain,config,engine]",
      from: `surface/${part}/${folder}`,
      to: `${folder}/target`,
    })),
  ),
  ...["adapters/sqlite", "ports"].map((folder) => ({
    rule: "cli-may-import-only-[lib,domain,config,engine,capture,app,packs,assistants,doctor]",
    from: `surface/cli/${folder.slice(0, 5)}`,
    to: `${folder}/target`,
  })),
  {
    rule: "capture-may-import-only-[lib,domain,ports,engine,adapters]",
    from: "capture/up",
    to: "app/target",
  },
  {
    rule: "app-may-import-only-[lib,domain,config,ports,engine,adapters,capture]",
    from: "app/up",
    to: "surface/http/target",
  },
  {
    rule: "packs-may-import-only-[lib,domain,config,ports,engine,adapters,app]",
    from: "packs/up",
    to: "assistants/target",
  },
  {
    rule: "assistants-may-import-only-[lib,domain,config,ports,engine,adapters,capture,app,packs]",
    from: "assistants/up",
    to: "doctor/target",
  },
  {
    rule: "doctor-may-import-only-[lib,domain,config,ports,engine,adapters,capture,app,packs,assistants]",
    from: "doctor/up",
    to: "surface/cli/target",
  },
  { rule: "a-process-is-started-by-main-alone", from: "app/starts", to: "process/target" },
  { rule: "a-process-is-started-by-main-alone", from: "surface/cli/starts", to: "process/target" },
  {
    rule: "library-may-import-only-[app,config,domain,engine,lib,ports]",
    from: "library",
    to: "adapters/sqlite/target",
  },
  { rule: "the-library-serves-http-alone", from: "http-library", to: "surface/mcp/target" },
  {
    rule: "outside-sees-only-the-engine-facade",
    from: "surface/cli/deep",
    to: "engine/write/target",
  },
  {
    rule: "adapters-are-strangers",
    from: "adapters/sqlite/sibling",
    to: "adapters/embedding/target",
  },
  { rule: "inner-layers-have-no-io", from: "lib/node", to: "node:fs" },
  { rule: "inner-layers-have-no-io", from: "domain/path", to: "node:path" },
  { rule: "inner-layers-have-no-io", from: "ports/worker", to: "node:worker_threads" },
  { rule: "inner-layers-have-no-runtime", from: "engine/write/bun", to: "bun" },
  { rule: "inner-layers-have-no-runtime", from: "engine/sqlite", to: "bun:sqlite" },
  { rule: "inner-layers-have-no-packages", from: "domain/package", to: "zod" },
  { rule: "inner-layers-have-no-packages", from: "engine/package", to: "hono" },
  { rule: "surfaces-do-not-meet", from: "surface/mcp/sibling", to: "surface/http/target" },
  { rule: "surfaces-do-not-meet", from: "surface/contract/down", to: "surface/http/target" },
  { rule: "surfaces-do-not-meet", from: "surface/listener/up", to: "surface/http/target" },
  {
    rule: "the-contract-knows-no-surface",
    from: "surface/contract/listener",
    to: "surface/listener/target",
  },
  { rule: "the-environment-has-one-reader", from: "surface/http/environment", to: "config/load" },
  { rule: "engine-write-siblings", from: "engine/write/sibling", to: "engine/retrieve/target" },
  { rule: "engine-extract-siblings", from: "engine/extract/sibling", to: "engine/write/target" },
  { rule: "engine-retrieve-siblings", from: "engine/retrieve/sibling", to: "engine/write/target" },
  { rule: "engine-observe-siblings", from: "engine/observe/sibling", to: "engine/extract/target" },
  { rule: "engine-inspect-siblings", from: "engine/inspect/sibling", to: "engine/write/target" },
  { rule: "engine-browse-siblings", from: "engine/browse/sibling", to: "engine/write/target" },
  {
    rule: "engine-lifecycle-siblings",
    from: "engine/lifecycle/sibling",
    to: "engine/write/target",
  },
  {
    rule: "engine-aggregate-siblings",
    from: "engine/aggregate/sibling",
    to: "engine/inspect/target",
  },
  {
    rule: "engine-owners-siblings",
    from: "engine/owners/sibling",
    to: "engine/inspect/target",
  },
  {
    rule: "engine-receipts-siblings",
    from: "engine/receipts/sibling",
    to: "engine/retrieve/target",
  },
  {
    rule: "engine-organize-siblings",
    from: "engine/organize/sibling",
    to: "engine/retrieve/target",
  },
  { rule: "page-may-import-only-[lib,domain]", from: "page/up", to: "engine/target" },
  { rule: "nothing-imports-the-page", from: "surface/http/page", to: "page/target" },
  { rule: "the-page-needs-few-packages", from: "page/package", to: "hono" },
  {
    rule: "clients-may-import-only-[lib,domain,engine]",
    from: "../clients/js/src/up",
    to: "app/target",
  },
  {
    rule: "outside-sees-only-the-engine-facade",
    from: "../clients/js/src/deep",
    to: "engine/write/target",
  },
  { rule: "src-stands-alone", from: "app/adapts", to: "../clients/js/src/target" },
  { rule: "an-adapter-needs-its-framework-alone", from: "../clients/js/src/package", to: "zod" },
  {
    rule: "langchain-needs-langchain-alone",
    from: "../clients/js/src/langchain/package",
    to: "zod",
  },
  {
    rule: "the-ai-sdk-needs-its-types-alone",
    from: "../clients/js/src/ai-sdk/package",
    to: "hono",
  },
  { rule: "the-ai-sdk-is-never-loaded", from: "../clients/js/src/ai-sdk/loads", to: "ai" },
  { rule: "inner-layers-have-no-io", from: "../clients/js/src/node", to: "node:fs" },
  { rule: "inner-layers-have-no-runtime", from: "../clients/js/src/bun", to: "bun" },
  { rule: "src-stands-alone", from: "lib/entry", to: "../scripts/target" },
  { rule: "src-stands-alone", from: "app/published", to: "../src/library" },
  { rule: "no-circular", from: "domain/loop-back", to: "domain/loop" },
  { rule: "no-unresolvable", from: "domain/missing", to: "domain/nowhere" },
];

/** Imports that the layers allow; none of them may be reported. */
const ALLOWED: readonly Omit<Plant, "rule">[] = [
  { from: "domain/allowed", to: "lib/target" },
  { from: "engine/write/allowed", to: "ports/target" },
  { from: "engine/engine", to: "engine/write/target" },
  { from: "engine/lifecycle/joint", to: "engine/write/api" },
  { from: "surface/contract/types", to: "engine/retrieve/api" },
  { from: "engine/organize/allowed", to: "engine/write/target" },
  { from: "adapters/sqlite/allowed", to: "adapters/native/target" },
  { from: "adapters/sqlite/builtin", to: "bun:sqlite" },
  { from: "surface/http/allowed", to: "surface/contract/target" },
  { from: "surface/http/listener", to: "surface/listener/target" },
  { from: "surface/listener/allowed", to: "surface/contract/target" },
  { from: "surface/http/facade", to: "engine/target" },
  { from: "surface/http/package", to: "hono" },
  { from: "app/allowed", to: "adapters/sqlite/target" },
  { from: "app/environment", to: "config/load" },
  { from: "doctor/allowed", to: "assistants/target" },
  ...["app", "packs", "assistants", "doctor"].map((folder) => ({
    from: `surface/cli/${folder}-allowed`,
    to: `${folder}/target`,
  })),
  { from: "main", to: "process/target" },
  { from: "page/allowed", to: "domain/target" },
  { from: "page/views", to: "preact" },
];

type Violation = {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
};

function plant(root: string, { from, to }: Omit<Plant, "rule">): void {
  const isPackage = !to.includes("/") || to.startsWith("node:");
  const path = `./${relative(join("src", dirname(from)), join("src", to))}.ts`;
  write(root, from, `export * from "${isPackage ? to : path}";\n`);
}

function write(root: string, name: string, text: string): void {
  const path = join(root, "src", `${name}.ts`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function cruise(root: string): readonly Violation[] {
  const tool = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const command = [
    process.execPath,
    tool,
    "--config",
    CONFIG,
    "--output-type",
    "json",
    "src",
    "clients/js/src",
  ];
  const { stdout, stderr } = Bun.spawnSync(command, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1" },
  });
  try {
    return JSON.parse(stdout.toString()).summary.violations;
  } catch {
    throw new Error(`the cruise failed: ${stderr.toString()}${stdout.toString().slice(0, 500)}`);
  }
}

describe("the layer rules", () => {
  let violations: readonly Violation[] = [];

  beforeAll(() => {
    const root = mkdtempSync(join(tmpdir(), "svc-layers-"));
    try {
      symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
      writeFileSync(join(root, "tsconfig.json"), readFileSync(join(ROOT, "tsconfig.json")));
      for (const { to } of [...PLANTS, ...ALLOWED]) {
        if (/\/(target|api)$/.test(to) || to === "config/load")
          write(root, to, "export const target = 1;\n");
      }
      for (const planted of [...PLANTS, ...ALLOWED]) plant(root, planted);
      write(root, "domain/loop", 'import "./loop-back.ts";\nexport const loop = 1;\n');
      write(root, "domain/loop-back", 'import "./loop.ts";\n');
      violations = cruise(root);
    } finally {
      rmSync(root, { recursive: true });
    }
  }, 120_000);

  const reported = (from: string): readonly string[] =>
    violations
      .filter((found) => found.from === join("src", `${from}.ts`))
      .map((found) => found.rule.name);

  test.each(PLANTS)("$rule reports $from importing $to", ({ rule, from }) => {
    expect(reported(from)).toContain(rule);
  });

  test.each(ALLOWED)("$from may import $to", ({ from }) => {
    expect(reported(from)).toEqual([]);
  });

  test("each have a planted violation", () => {
    const config: {
      readonly forbidden: readonly { readonly name: string; readonly severity: string }[];
    } = createRequire(import.meta.url)(CONFIG);
    const planted = new Set(PLANTS.map(({ rule }) => rule));
    expect(config.forbidden.filter(({ name }) => !planted.has(name))).toEqual([]);
    expect(config.forbidden.filter(({ severity }) => severity !== "error")).toEqual([]);
  });
});

/** Every TypeScript file of src and of the clients, parsed, with its path below src; without the client that a build generates. */
const SOURCES = [...new Bun.Glob("{src,clients}/**/*.{ts,tsx}").scanSync(ROOT)]
  .filter((path) => !/^src\/page\/client\/|^clients\/\w+\/(?!src\/)/.test(path))
  .map((path) => relative("src", path))
  .map((path) => {
    const text = readFileSync(join(ROOT, "src", path), "utf8");
    return { path, file: ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true) };
  });

/** `path:line text` of every node that `matches`. */
function places(matches: (node: ts.Node, path: string) => boolean): readonly string[] {
  const found: string[] = [];
  for (const { path, file } of SOURCES) {
    const visit = (node: ts.Node): void => {
      if (matches(node, path)) {
        const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        found.push(`src/${path}:${line} ${node.getText().slice(0, 60)}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

/** Whether the line of `node` or one of the three lines above it explains why a cast is sound. */
function isExplained(node: ts.Node): boolean {
  const file = node.getSourceFile();
  const line = file.getLineAndCharacterOfPosition(node.getStart()).line;
  const lines = file.text.split("\n").slice(Math.max(0, line - 3), line + 1);
  return lines.some((text) => text.includes("// SAFETY:"));
}

/** The titles of tests that may be skipped and do not say why. */
function skipsWithoutReason(text: string): readonly string[] {
  const file = ts.createSourceFile("x.test.ts", text, ts.ScriptTarget.ESNext, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.name.text === "skipIf") {
      const title = titleOf(node.parent)?.getText() ?? "no title";
      if (!/leftOut|left out/.test(title)) found.push(title);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** What is found in the texts of all tests, with their paths. */
function inTests(find: (text: string) => readonly string[]): readonly string[] {
  return [...new Bun.Glob("{test,clients}/**/*.test.ts").scanSync(ROOT)].flatMap((path) =>
    find(readFileSync(join(ROOT, path), "utf8")).map((one) => `${path}: ${one}`),
  );
}

/** Fewer milliseconds than these are no limit of a wait, but a guess how fast a machine is. */
const SHORTEST_LIMIT_MS = 9_000;

/** Expectations that so little of the clock's time has passed. */
function guessesOfSpeed(text: string): readonly string[] {
  const clock =
    /expect\(\s*(?:performance|Date)\.now\(\) - \w+\s*\)\s*\.toBe(?:LessThan(?:OrEqual)?\(|Within\([\d_]+, )([\d_]+)/g;
  return [...text.matchAll(clock)]
    .filter(([, most = ""]) => Number(most.replaceAll("_", "")) < SHORTEST_LIMIT_MS)
    .map(([found]) => found);
}

/** Milliseconds that a test needs on a busy machine, if it starts a process or two. */
const LEAST_LIMIT_MS = 60_000;

/** Shorter limits of tests, and of what is done around them. */
function shortLimits(text: string): readonly string[] {
  const file = ts.createSourceFile("x.test.ts", text, ts.ScriptTarget.ESNext, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const name = /^(?:test|(?:before|after)(?:All|Each)|setDefaultTimeout)\b/.exec(
        node.getText(),
      );
      const limit = node.arguments.at(-1);
      const isLimit =
        limit !== undefined &&
        ts.isNumericLiteral(limit) &&
        (node.arguments.length > 1 || name?.[0] === "setDefaultTimeout");
      if (name !== null && isLimit && Number(limit.text) < LEAST_LIMIT_MS) found.push(limit.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** What follows `test.skipIf(…)`, at once or after `.each(…)`. */
function titleOf(skip: ts.Node): ts.Node | undefined {
  const { parent } = skip;
  if (ts.isPropertyAccessExpression(parent)) return titleOf(parent.parent);
  return ts.isCallExpression(parent) ? parent.arguments[0] : undefined;
}

describe("the source", () => {
  test("explains every cast", () => {
    const isCast = (node: ts.Node): boolean =>
      ts.isAsExpression(node) && node.type.getText() !== "const" && !isExplained(node);
    expect(places(isCast)).toEqual([]);
  });

  test("takes time and chance from ports in the inner layers", () => {
    const isAmbient = (node: ts.Node, path: string): boolean => {
      if (!/^(domain|ports|engine)\//.test(path)) return false;
      if (ts.isNewExpression(node)) {
        return node.expression.getText() === "Date" && (node.arguments?.length ?? 0) === 0;
      }
      return (
        ts.isPropertyAccessExpression(node) &&
        /^(Date\.now|Math\.random|crypto\.\w+|process\.\w+|console\.\w+|Bun\.\w+)$/.test(
          node.getText(),
        )
      );
    };
    expect(places(isAmbient)).toEqual([]);
  });

  test("reads the environment in one place", () => {
    // The entry hands the environment over; the folders of the cache and of capture follow the platform's convention, no setting. A client gives its own to the program.
    const readers =
      /^(main\.ts|config\/|app\/|capture\/state\.ts|adapters\/native\/cache-dir\.ts|adapters\/network\/|\.\.\/clients\/js\/src\/local\.ts)/;
    const isEnvironment = (node: ts.Node, path: string): boolean =>
      ts.isPropertyAccessExpression(node) &&
      /^(process|Bun)\.env$/.test(node.getText()) &&
      !readers.test(path);
    expect(places(isEnvironment)).toEqual([]);
  });

  test("asks other programs in one place, which knows what no proxy may see", () => {
    // The page and the documentation run in a browser; the client runs on Node, too.
    const askers = /^(adapters\/network\/|page\/|\.\.\/clients\/js\/src\/remote\.ts)/;
    const isRequest = (node: ts.Node, path: string): boolean =>
      ts.isCallExpression(node) && node.expression.getText() === "fetch" && !askers.test(path);
    expect(places(isRequest)).toEqual([]);
  });

  test("makes no markup and no styles of texts in the page", () => {
    const makers =
      /^(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|createContextualFragment|setHTMLUnsafe|srcdoc|cssText)$/;
    const isMaker = (node: ts.Node, path: string): boolean =>
      path.startsWith("page/") &&
      ((ts.isIdentifier(node) && makers.test(node.text)) ||
        (ts.isStringLiteral(node) && makers.test(node.text)) ||
        // A style in text would be an attribute, which the policy refuses.
        (ts.isJsxAttribute(node) &&
          node.name.getText() === "style" &&
          node.initializer !== undefined &&
          ts.isStringLiteral(node.initializer)));
    expect(places(isMaker)).toEqual([]);
  });

  test("opens databases in one place, where macOS gets its SQLite", () => {
    const isOpening = (node: ts.Node, path: string): boolean =>
      ts.isNewExpression(node) &&
      node.expression.getText() === "Database" &&
      path !== "adapters/native/load-library.ts";
    expect(places(isOpening)).toEqual([]);
  });

  test("says in the title of each test that may be skipped why it is", () => {
    const planted = `test.skipIf(!isRoot).each([1])("is read", () => {}); const onLinux = test.skipIf(x);
      test.skipIf(a)(\`is read${"$"}{leftOut(a)}\`, () => {});`;
    expect(skipsWithoutReason(planted)).toEqual(['"is read"', "no title"]);
    expect(inTests(skipsWithoutReason)).toEqual([]);
  });

  test("gives every test the time of a busy machine", () => {
    const planted = `setDefaultTimeout(5_000); test.each([1])("is read", () => {}, 20_000); beforeAll(() => {}, 9);
      test("is written", () => at(5), 120_000); test("is kept", () => {});`;
    expect(shortLimits(planted)).toEqual(["5000", "20000", "9"]);
    expect(inTests(shortLimits)).toEqual([]);
  });

  test("measures no test by the clock of a room in which others work", () => {
    const planted = [
      "performance.now() - begun).toBeLessThan(2_000)",
      "Date.now() - begun).toBeWithin(50, 900)",
      "performance.now() - begun).toBeLessThan(30_000)",
      "processorMs() - begun).toBeLessThan(200)",
    ].map((rest) => `expect(${rest}`);
    expect(planted.flatMap(guessesOfSpeed)).toHaveLength(2);
    expect(inTests(guessesOfSpeed)).toEqual([]);
  });
});
