import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { PAGE_PACKAGES } from "../scripts/build/page.ts";
import { conformanceFaults, conformancePages } from "../scripts/check/conformance.ts";
import { NOT_APPLICABLE, REASONS } from "../scripts/conformance/not-applicable.ts";
import { settingsPage } from "../scripts/docs-settings.ts";
import { describeSettings } from "../src/config/schema.ts";
import { ERROR_CATALOGUE, type ErrorCode, SvcError } from "../src/domain/errors.ts";
import type { Serving } from "../src/surface/cli/context.ts";
import { processOutput } from "../src/surface/cli/output.ts";
import { COMMAND_NAMES, createProgram, SYNONYMS } from "../src/surface/cli/program.ts";
import { ERROR_MAP } from "../src/surface/contract/core/error-map.ts";
import { OPERATIONS } from "../src/surface/contract/core/operations.ts";
import { REFUSAL_CODES } from "../src/surface/listener/answers.ts";

const ROOT = join(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The cells of every table row of a page, without headings and rules. */
function rows(page: string): readonly (readonly string[])[] {
  const lines = read(page).split("\n");
  return lines
    .filter((line, index) => line.startsWith("|") && !isHeading(lines, index))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function isHeading(lines: readonly string[], index: number): boolean {
  return lines[index]!.startsWith("|---") || (lines[index + 1] ?? "").startsWith("|---");
}

/** The text of a cell that is one piece of code. */
const code = (cell: string | undefined): string => (cell ?? "").replaceAll("`", "");

const sorted = (values: Iterable<string>): readonly string[] => [...values].sort();

describe("docs/settings.md", () => {
  test("is what the settings schema says", () => {
    expect(read("docs/settings.md")).toBe(settingsPage());
  });

  test("has one row for each setting, with a meaning", () => {
    const documented = rows("docs/settings.md");
    expect(sorted(documented.map(([name]) => code(name)))).toEqual(
      sorted(describeSettings().map(({ setting }) => setting)),
    );
    expect(documented.filter((cells) => (cells[5] ?? "").length < 10)).toEqual([]);
  });
});

test("docs/errors.md has each code with its class, status, exit code, retry and a meaning", () => {
  const documented = rows("docs/errors.md").map(([name, type, meaning, , http, exit, retry]) => ({
    code: code(name),
    type: code(type),
    hasMeaning: (meaning ?? "").length > 10,
    http: Number(http),
    exit: Number(exit),
    retry: retry === "yes",
  }));
  const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
  expect(documented).toEqual(
    codes.map((name) => ({
      code: name,
      type: new SvcError(name, "").name,
      hasMeaning: true,
      http: ERROR_MAP[name].httpStatus,
      exit: ERROR_MAP[name].exitCode,
      retry: ERROR_CATALOGUE[name].retry,
    })),
  );
});

test("docs/errors.md explains each code of the listener", () => {
  const page = read("docs/errors.md");
  expect(REFUSAL_CODES.filter((name) => !page.includes(`\`${name}\`:`))).toEqual([]);
});

test("docs/http.md has each route", () => {
  const documented = rows("docs/http.md")
    .filter(([method]) => /^[A-Z]+$/.test(method ?? ""))
    .map(([method, path]) => `${method} ${code(path)}`);
  const routes = OPERATIONS.flatMap(({ http }) =>
    http === undefined ? [] : [`${http.method.toUpperCase()} ${http.path}`],
  );
  const beside = ["/", "/v1/ready", "/openapi.json", "/docs", "/redoc", "/inspect/"];
  const gets = beside.map((path) => `GET ${path}`);
  expect(sorted(documented)).toEqual(sorted([...routes, ...gets]));
});

test("docs/security.md names tests that exist", () => {
  const named = [
    ...read("docs/security.md").matchAll(
      /`((?:adapters|engine|fault|scenario|surface)\/[\w/-]+)`/g,
    ),
  ];
  expect(named.length).toBeGreaterThan(10);
  const absent = named
    .map(([, name]) => name ?? "")
    .filter((name) => !["", ".test.ts"].some((end) => existsSync(join(ROOT, "test", name + end))));
  expect(absent).toEqual([]);
});

describe("docs/mcp.md", () => {
  const documented = rows("docs/mcp.md");

  test("has each tool and whether it only reads", () => {
    const tools = documented.filter(([name]) => code(name).startsWith("memory_"));
    expect(sorted(tools.map(([name, reads]) => `${code(name)} ${reads}`))).toEqual(
      sorted(
        OPERATIONS.flatMap(({ mcp }) =>
          mcp === undefined ? [] : [`${mcp.tool} ${mcp.annotations.readOnlyHint ? "yes" : "no"}`],
        ),
      ),
    );
  });

  test("has each resource", () => {
    const source = read("src/surface/mcp/server.ts");
    const resources = new Set(source.match(/memory:\/\/[a-z]+(\/\{\w+\})?/g));
    const named = documented.map(([uri]) => code(uri)).filter((uri) => uri.includes("://"));
    expect(sorted(named)).toEqual(sorted(resources));
  });
});

describe("docs/cli.md", () => {
  const documented = new Map(
    rows("docs/cli.md").map(([usage, text]) => [code(usage).split(" ")[1] ?? "", text ?? ""]),
  );

  test("has each command", () => {
    expect(sorted(documented.keys())).toEqual(sorted(COMMAND_NAMES));
  });

  test.each([...COMMAND_NAMES])("has each option of svc %s", async (name) => {
    const program = await createProgram([name], {
      // SAFETY: no command is run.
      serving: {} as Serving,
      output: processOutput(),
      fail: () => undefined,
      run: async () => undefined,
    });
    const options = program.commands.flatMap((command) =>
      command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
    );
    // What nearly every command takes in place of its first word is said once for all.
    expect(read("docs/cli.md")).toContain("`--db-path` is the same");
    const missing = options.filter(
      (option) => option !== "--db-path" && !documented.get(name)?.includes(`\`${option}`),
    );
    expect(missing).toEqual([]);
  });
});

test("documents and pages name commands that exist", () => {
  const files = ["*.md", "docs/**/*.md", "src/page/**/*.{html,ts,tsx}"].flatMap((pattern) => [
    ...new Glob(pattern).scanSync(ROOT),
  ]);
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/(?:`|<code>)svc ([a-z][a-z-]*)/g)].map(([, name]) => name ?? ""),
  );
  expect(named.length).toBeGreaterThan(100);
  const known = new Set([...COMMAND_NAMES, ...Object.values(SYNONYMS).flat()]);
  expect(sorted(new Set(named).difference(known))).toEqual([]);
});

describe("docs/conformance.md", () => {
  const pages = conformancePages(ROOT);
  const routes = ["GET /v1/ready", "GET /openapi.json", "GET /docs", "GET /redoc", "POST /mcp"];
  const offered = {
    commands: COMMAND_NAMES,
    routes: OPERATIONS.flatMap(({ http }) =>
      http === undefined ? [] : [`${http.method.toUpperCase()} ${http.path}`],
    ).concat(routes),
    tools: OPERATIONS.flatMap(({ mcp }) => mcp?.tool ?? []),
  };

  test("links to each page of rows", () => {
    const linked = [...read("docs/conformance.md").matchAll(/\]\((conformance\/[\w-]+\.md)\)/g)];
    expect(sorted(linked.map(([, path]) => `docs/${path}`))).toEqual(sorted(pages.keys()));
  });

  test("has rows that name tests, commands, routes and tools that exist", () => {
    expect(conformanceFaults(ROOT, pages, offered)).toEqual([]);
  });

  test.each([
    ["| a | met | `test/docs.test.ts: links to each page of rows` | |", undefined],
    ["| a | met | `curl -X PUT /v1/nodes/ID/promote` | |", undefined],
    ["| a | met | `dist/svc info PACK` | |", undefined],
    ["| a | met | `memory_store {}` | |", undefined],
    ["| a | not met | | nothing does it |", undefined],
    ["| a | nearly | `dist/svc info` | b |", "the result is nearly"],
    ["| a | met | | |", "nothing shows it"],
    ["| a | met differently | `dist/svc info` | |", "no remark"],
    ["| a | met | `dist/svc info` |", "not four cells"],
    ["| a | met | `test/absent.test.ts: a` | |", "no file test/absent.test.ts"],
    ["| a | met | `test/until.ts: absent` | |", "no such test: test/until.ts: absent"],
    ["| a | met | `dist/svc fly` | |", "no command fly"],
    ["| a | met | `curl /v1/fly` | |", "no route GET /v1/fly"],
    ["| a | met | `memory_fly` | |", "neither a test nor a command: memory_fly"],
  ])("the check of a row finds in %j: %p", (row, fault) => {
    const table = `| Requirement | Result | Shown by | Remark |\n|---|---|---|---|\n${row}`;
    const expected = fault === undefined ? [] : [`page.md:3: ${fault}`];
    expect(conformanceFaults(ROOT, new Map([["page.md", table]]), offered)).toEqual(expected);
  });
});

describe("dependencies", () => {
  const manifest: {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  } = JSON.parse(read("package.json"));
  const client: Pick<typeof manifest, "devDependencies"> = JSON.parse(
    read("clients/js/package.json"),
  );
  const versions = {
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...client.devDependencies,
  };

  test("each have a complete line in docs/dependencies.md", () => {
    const documented = rows("docs/dependencies.md");
    expect(sorted(documented.map(([name]) => code(name)))).toEqual(sorted(Object.keys(versions)));
    expect(documented.filter((cells) => cells.length !== 5 || cells.includes(""))).toEqual([]);
  });

  test("are pinned to exact versions", () => {
    const loose = Object.entries(versions).filter(
      ([, version]) => !/^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  test("in the program are named in NOTICE", () => {
    const notice = read("NOTICE");
    const names = [...Object.keys(manifest.dependencies), ...PAGE_PACKAGES];
    expect(names.filter((name) => !notice.includes(name))).toEqual([]);
  });
});

describe("the shipped model", () => {
  const models = "src/adapters/embedding/models";
  const folders = readdirSync(join(ROOT, models)).flatMap((vendor) =>
    readdirSync(join(ROOT, models, vendor)).map((name) => `${vendor}/${name}`),
  );

  test("is one or more", () => {
    expect(folders.length).toBeGreaterThan(0);
  });

  test.each(folders)(
    "%s comes with its licence and is named in NOTICE with its copyright",
    (name) => {
      const licence = read(`${models}/${name}/LICENSE`);
      const copyright = /^Copyright .*$/m.exec(licence)?.[0] ?? "no copyright line";
      expect(read("NOTICE")).toContain(name);
      expect(read("NOTICE")).toContain(copyright);
      expect(read("NOTICE")).toContain("Permission is hereby granted, free of charge");
    },
  );
});

describe("every page", () => {
  const pages = [
    ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
    ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ];

  test.each(pages)("%s links to files that exist", (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g)].map(
      ([, to]) => to!,
    );
    const broken = targets.filter((to) => !existsSync(join(ROOT, page, "..", to)));
    expect(broken).toEqual([]);
  });

  test.each(pages)("%s names no folder of the machine on which it was written", (page) => {
    expect(read(page).match(/(^|[\s"'`(])\/(home|root|Users|work|tmp)\/\S*/gm) ?? []).toEqual([]);
  });
});

test("CONTRIBUTING.md names files that exist", () => {
  const named = [...read("CONTRIBUTING.md").matchAll(/`((?:src|test|docs|scripts)\/[\w./-]+)`/g)];
  expect(named.length).toBeGreaterThan(20);
  expect(named.flatMap(([, path = ""]) => (existsSync(join(ROOT, path)) ? [] : [path]))).toEqual(
    [],
  );
});

describe("ARCHITECTURE.md", () => {
  test("has a section for each folder below src", () => {
    const headings = read("ARCHITECTURE.md").match(/^#+ .*$/gm) ?? [];
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `src/${entry.name}/`);
    expect(folders.filter((folder) => !headings.some((line) => line.includes(folder)))).toEqual([]);
  });
});

test("docs/mcp.md names every scenario of the conformance suite that does not apply, with its reason", () => {
  const rows = read("docs/mcp.md")
    .split("\n")
    .filter((row) => row.startsWith("| "));
  for (const [revision, entries] of Object.entries(NOT_APPLICABLE)) {
    for (const { name, reason } of entries) {
      const said = [`\`${name}\``, revision, REASONS[reason]];
      const fits = rows.filter((row) => said.every((part) => row.includes(part)));
      expect([name, fits.length]).toEqual([name, 1]);
    }
  }
});
