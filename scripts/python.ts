/**
 * The client for Python: `bun scripts/python.ts check` tries it against `dist/svc`, `make` only makes the modules that follow from
 * the OpenAPI document. Tools are installed below `node_modules`, at the versions of
 * `clients/python/requirements.txt`.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installByPip } from "./build/pip.ts";
import { run } from "./build/run.ts";

const ROOT = join(import.meta.dir, "..");
const CLIENT = join(ROOT, "clients/python");
const CACHE = join(ROOT, "node_modules/.cache/python");
const UV = join(CACHE, "uv/bin/uv");
const REQUIREMENTS = join(CLIENT, "requirements.txt");
const MILLISECONDS = 600_000;

/** Folder of the environment with the tools that a file of requirements pins. */
function environmentOf(requirements: string): string {
  const text = readFileSync(requirements);
  return join(CACHE, new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16));
}

/** Why the client cannot be tried here, in one line: no Python, or its tools cannot be installed. Undefined: they are there. */
export async function whyNoPython({
  requirements = REQUIREMENTS,
  mayInstall = process.env["CI"] !== undefined,
} = {}): Promise<string | undefined> {
  const version = await run(["python3", "-c", "import sys; print(sys.version_info >= (3, 10))"]);
  if (version.stdout.trim() !== "True") return "python3 of version 3.10 or newer is not installed";
  const environment = environmentOf(requirements);
  if (existsSync(environment)) return undefined;
  if (!mayInstall) {
    return "its tools are not installed; set CI=true to have them installed below node_modules";
  }
  if (!existsSync(UV)) {
    const hindrance = await installByPip(join(CLIENT, "uv.txt"), join(CACHE, "uv"));
    if (hindrance !== undefined) return `uv cannot be installed by pip: ${hindrance}`;
  }
  // Put into its place whole.
  const making = `${environment}.${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  const python = join(making, "bin/python");
  const install = [UV, "pip", "install", "--python", python, "--require-hashes", "-r"];
  for (const command of [
    [UV, "venv", "--relocatable", "--python", "python3", making],
    [...install, requirements],
  ]) {
    const { exitCode, stderr } = await run(command, { cwd: CLIENT, limitMs: MILLISECONDS });
    if (exitCode === 0) continue;
    rmSync(making, { recursive: true, force: true });
    return `the tools cannot be installed: ${stderr.trim().split("\n").at(-1)}`;
  }
  if (existsSync(environment)) rmSync(making, { recursive: true, force: true });
  else renameSync(making, environment);
  return undefined;
}

/** Makes the generated modules, of the present operations. @throws Error with the generator's words */
export async function makeModules(): Promise<void> {
  const { buildOpenApi } = await import("../src/surface/http/openapi.ts");
  const document = join(CACHE, "openapi.json");
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(document, JSON.stringify(buildOpenApi("0")));
  await inClient(["python", "generate.py", document]);
}

/** Runs a tool in the folder of the client. @returns what it printed @throws Error with that if it fails */
async function inClient(
  [tool = "", ...args]: readonly string[],
  requirements = REQUIREMENTS,
): Promise<string> {
  const folder = join(environmentOf(requirements), "bin");
  const { exitCode, stdout, stderr } = await run([join(folder, tool), ...args], {
    cwd: CLIENT,
    limitMs: MILLISECONDS,
    env: {
      PYTHONPATH: join(CLIENT, "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      TEST_PROGRAM: join(ROOT, "dist/svc"),
    },
  });
  if (exitCode !== 0) throw new Error(`${tool} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

/** Format, lint, types and tests. The last line is that of the tests. */
async function check(): Promise<void> {
  await makeModules();
  const results = await Promise.allSettled([
    inClient(["ruff", "format", "--check", "--no-cache"]),
    inClient(["ruff", "check", "--no-cache"]),
    inClient(["mypy", "--cache-dir", "/dev/null"]),
    inClient(["pytest"]),
  ]);
  for (const result of results) {
    if (result.status === "fulfilled") console.log(result.value.trimEnd());
    else {
      console.log(String(result.reason));
      process.exitCode = 1;
    }
  }
}

/** Builds the package into a folder, given absolutely. Equal source gives equal bytes. @throws Error that says why not */
export async function clientWheel(folder: string): Promise<void> {
  const hindrance = await whyNoPython({ mayInstall: true });
  if (hindrance !== undefined) throw new Error(hindrance);
  await makeModules();
  await inClient(["hatchling", "build", "-t", "wheel", "-d", folder]);
}

if (import.meta.main) {
  const [command] = process.argv.slice(2);
  const hindrance = await whyNoPython({ mayInstall: true });
  if (hindrance !== undefined) throw new Error(hindrance);
  if (command === "check") await check();
  else if (command === "make") await makeModules();
  else throw new Error("bun scripts/python.ts check | make");
}
