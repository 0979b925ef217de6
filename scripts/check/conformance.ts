import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "docs/conformance";
const HEADINGS = ["Requirement", "Result", "Shown by", "Remark"];
const RESULTS = ["met", "met differently", "not met"];

/** What the program offers; what a row names must be among it. */
export type Offered = {
  readonly commands: readonly string[];
  /** Method and path, as in `GET /v1/nodes/{node_id}`. */
  readonly routes: readonly string[];
  readonly tools: readonly string[];
};

type Row = { readonly place: string; readonly cells: readonly string[] };

const isRule = (line: string): boolean => /^\|[-|: ]+\|$/.test(line);

function cells(line: string): readonly string[] {
  const parts = line.split(/(?<!\\)\|/).slice(1, -1);
  return parts.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Every row of a page's tables; a table with other headings than the agreed ones is a row that fails. */
function rowsOf(page: string, text: string): readonly Row[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const isHeading = isRule(lines[index + 1] ?? "");
    if (!line.startsWith("|") || isRule(line)) return [];
    if (isHeading && cells(line).join() === HEADINGS.join()) return [];
    return [{ place: `${page}:${index + 1}`, cells: cells(line) }];
  });
}

/** Pages of rows by path, read from the repository at `root`. */
export function conformancePages(root: string): ReadonlyMap<string, string> {
  const names = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith(".md"));
  return new Map(
    names.map((name) => [`${FOLDER}/${name}`, readFileSync(join(root, FOLDER, name), "utf8")]),
  );
}

/** How many rows have each result. */
export function countResults(pages: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  const rows = [...pages].flatMap(([page, text]) => rowsOf(page, text));
  const count = (result: string): number => rows.filter((row) => row.cells[1] === result).length;
  return new Map(RESULTS.map((result) => [result, count(result)]));
}

/** What is wrong with the rows, each with its place; empty when nothing is. */
export function conformanceFaults(
  root: string,
  pages: ReadonlyMap<string, string>,
  offered: Offered,
): readonly string[] {
  const read = reader(root);
  const rows = [...pages].flatMap(([page, text]) => rowsOf(page, text));
  return rows.flatMap((row) => {
    const spans = [...(row.cells[2] ?? "").matchAll(/`([^`]+)`/g)].map(([, span]) => span ?? "");
    const faults = spans.map((span) => spanFault(span, read, offered));
    return [...cellFaults(row, spans.length), ...faults]
      .filter((fault) => fault !== undefined)
      .map((fault) => `${row.place}: ${fault}`);
  });
}

function cellFaults({ cells: [requirement, result, , remark, ...more] }: Row, spans: number) {
  if (!requirement || remark === undefined || more.length > 0) return ["not four cells"];
  return [
    RESULTS.includes(result ?? "") ? undefined : `the result is ${result}`,
    result !== "met" && !remark ? "no remark" : undefined,
    result !== "not met" && spans === 0 ? "nothing shows it" : undefined,
  ];
}

/** Reads each file once; undefined when there is none. */
function reader(root: string): (path: string) => string | undefined {
  const texts = new Map<string, string | undefined>();
  return (path) => {
    if (!texts.has(path)) {
      const full = join(root, path);
      texts.set(path, existsSync(full) ? readFileSync(full, "utf8") : undefined);
    }
    return texts.get(path);
  };
}

function spanFault(
  span: string,
  read: (path: string) => string | undefined,
  { commands, routes, tools }: Offered,
): string | undefined {
  const [first = "", second = ""] = span.split(" ");
  if (first.startsWith("test/")) return testFault(span, read);
  if (first === "dist/svc") return commands.includes(second) ? undefined : `no command ${second}`;
  if (first === "curl") {
    const route = routeOf(span);
    return routes.some((known) => isRoute(known, route)) ? undefined : `no route ${route}`;
  }
  return tools.includes(first) ? undefined : `neither a test nor a command: ${span}`;
}

function testFault(span: string, read: (path: string) => string | undefined): string | undefined {
  const [path = "", ...rest] = span.split(": ");
  const text = read(path);
  if (text === undefined) return `no file ${path}`;
  const name = rest.join(": ");
  // A name begins where a text begins, so that a word of some comment is none.
  const begins = ['"', "'", "`"].some((quote) => text.includes(quote + name));
  return name.length > 2 && begins ? undefined : `no such test: ${span}`;
}

/** The route that a curl command asks. */
function routeOf(command: string): string {
  const path = /\/(?:v1|docs|redoc|openapi\.json|mcp)[^\s?'"]*/.exec(command)?.[0] ?? "";
  const method = / -X ([A-Z]+)/.exec(command)?.[1] ?? (command.includes(" -d ") ? "POST" : "GET");
  return `${method} ${path}`;
}

/** Whether a route is asked, where `{id}` of the route stands for any part of a path. */
function isRoute(known: string, asked: string): boolean {
  const parts = known.split("/");
  const others = asked.split("/");
  const fits = (part: string, index: number): boolean =>
    part === others[index] || (part.startsWith("{") && others[index] !== "");
  return parts.length === others.length && parts.every(fits);
}

if (import.meta.main) {
  const pages = conformancePages(join(import.meta.dir, "../.."));
  for (const [result, count] of countResults(pages)) process.stdout.write(`${count} ${result}\n`);
}
