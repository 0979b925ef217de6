/**
 * Opens a photo or video in a process of its own and prints what became of it and the megabytes of the process that took most. On
 * Linux a new process begins with the highest memory of the one that starts it, which is why this small one stands between it and
 * the tests.
 */
import { join } from "node:path";

const command = [process.execPath, join(import.meta.dir, "open-one.ts"), process.argv[2] ?? ""];
const { stdout, resourceUsage } = Bun.spawnSync(command, { stderr: "inherit" });
const megabytes = (resourceUsage?.maxRSS ?? Number.NaN) / 2 ** 20;
console.log(JSON.stringify({ outcome: stdout.toString().trim(), megabytes }));
