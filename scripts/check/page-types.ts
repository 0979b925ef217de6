/** Checks the types of the inspector's page, which has the libraries of a browser and not those of Bun, against our own routes. */
import { join } from "node:path";
import { generateClient } from "../build/page.ts";

const root = join(import.meta.dir, "../..");
await generateClient(root);
const compiler = join(root, "node_modules/typescript-native/bin/tsc");
const command = [process.execPath, compiler, "--noEmit", "--pretty", "false", "-p", "src/page"];
const { exitCode } = Bun.spawnSync(command, { cwd: root, stdout: "inherit", stderr: "inherit" });
process.exitCode = exitCode;
