import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Program, runOnce, smoke } from "../smoke.ts";

/** The key of the packs of earlier versions in the tests, and of those that are made here. */
const KEY = "raw_key:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const OTHER_KEY = "raw_key:HxADAgEAHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAM";
const OWNER = ["--user-id", "anna"];
/** More characters than Windows allowed for long, with spaces and letters that take two bytes. */
const LONG_FOLDER = "ordner mit \u00fcberlangem namen/".repeat(9);

/** Two programs that must read each other's packs; `there` is of another platform. */
export type Pair = { readonly here: Program; readonly there: Program };

/**
 * Tries out the program of another platform: the smoke test, packs of earlier versions, and packs that each of the two wrote.
 * @param place an empty folder
 * @throws Error that names the first step that failed
 */
export async function tryOut(root: string, { here, there }: Pair, place: string): Promise<void> {
  await smoke(there, root);
  const work = join(place, "work");
  const home = join(place, "home");
  for (const folder of [work, home]) mkdirSync(folder, { recursive: true });
  const env = { HOME: home, SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: KEY };
  const run = (program: Program, ...args: readonly string[]): string =>
    runOnce(program, args, work, env).stdout;
  const packs = join(root, "test/compat/packs");
  for (const version of readdirSync(packs)) {
    const pack = `${version}.pack`;
    cpSync(join(packs, version, "encrypted.pack"), join(work, pack));
    expectText(run(there, "search", pack, "where is the spare key?", ...OWNER), "key");
  }
  for (const [writer, reader, pack] of [
    [here, there, "written here.pack"],
    [there, here, "geschrieben \u00fcber dort.pack"],
  ] as const) {
    run(writer, "init", pack);
    run(writer, "store", pack, "The ferry to the island leaves at noon");
    expectText(run(reader, "search", pack, "when does the boat go?"), "ferry");
    run(reader, "store", pack, "Anna is allergic to peanuts");
    expectText(run(writer, "search", pack, "what must Anna not eat?"), "peanuts");
  }
  copyWhole((...args) => run(there, ...args), root, work);
  if (there.startsItself === false) return;
  const driver = join(root, "scripts/release/two-assistants.ts");
  const asBun = { ...there, env: { ...there.env, BUN_BE_BUN: "1" } };
  expectText(run(asBun, driver, "written here.pack"), '{"shared":true,"after":true}');
}

/** What replaces or makes whole files, and a path that is long. */
function copyWhole(run: (...args: readonly string[]) => string, root: string, work: string): void {
  const pack = "written here.pack";
  const question = "when does the boat go?";
  run("rekey", pack, "--new-encryption-key", OTHER_KEY);
  expectText(run("search", pack, question, "--encryption-key", OTHER_KEY), "ferry");
  run("rekey", pack, "--plain", "--encryption-key", OTHER_KEY);
  expectText(run("search", pack, question, "--encryption-key", ""), "ferry");
  run("rekey", pack, "--encrypt", "--encryption-key", "", "--new-encryption-key", KEY);
  expectText(run("search", pack, question), "ferry");
  cpSync(join(root, "test/compat/packs/v1/directory"), join(work, "directory"), {
    recursive: true,
  });
  run("migrate", "directory", "migrated.pack");
  expectText(run("search", "migrated.pack", "where is the spare key?", ...OWNER), "key");
  mkdirSync(join(work, LONG_FOLDER), { recursive: true });
  run("backup", pack, `${LONG_FOLDER}far.pack`);
  expectText(run("search", `${LONG_FOLDER}far.pack`, question), "ferry");
}

function expectText(output: string, text: string): void {
  if (!output.includes(text)) throw new Error(`"${text}" is not in:\n${output}`);
}
