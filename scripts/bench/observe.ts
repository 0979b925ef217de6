/**
 * Measures what reading a video costs, without a model: `bun scripts/bench/observe.ts [--minutes 10]`. ffmpeg makes the video: 1920 x
 * 1080, 30 frames a second, H.264, a scene every five seconds. Processor time is that of all processes; memory is the most that they
 * occupied together. The probe is ffmpeg alone, which decodes the video and throws it away.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createFootageReader } from "../../src/adapters/footage/footage-reader.ts";
import { createSystemClock } from "../../src/adapters/system/system.ts";

const OPTIONS = { fps: 1, frameWidth: 1280, changeThreshold: 0.55, maxGapSeconds: 30 };
/** Milliseconds between two looks at the memory. */
const LOOK_MS = 50;
const PAGE_BYTES = 4096;

type Cost = { readonly processorS: number; readonly seconds: number; readonly megabytes: number };

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, child: { type: "string" } },
});

if (values.child === undefined) await measure(Number(values.minutes));
else await readOnce(values.child);

async function readOnce(path: string): Promise<void> {
  const before = process.memoryUsage.rss();
  const reader = createFootageReader({ clock: createSystemClock(), environment: process.env });
  const footage = await reader.open({ path }, OPTIONS);
  const kept = footage.frames.filter(({ reason }) => reason !== undefined).length;
  await footage.close();
  console.log(JSON.stringify({ frames: footage.frames.length, kept, before }));
}

async function measure(minutes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    const path = await makeVideo(folder, minutes);
    const alone = ["ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-f", "null", "-"];
    const probe = await run(alone);
    const self = [process.execPath, import.meta.path, "--child", path];
    const read = await run(self);
    const { frames, kept, before } = JSON.parse(read.output);
    const more = read.megabytes - before / 1e6;
    console.log(`${minutes} minutes of 1920 x 1080: ${frames} frames looked at, ${kept} kept`);
    console.log("| What | Figure | Ratio to its probe |\n|---|---|---|");
    console.log(`| ffmpeg alone, decoding (the probe) | ${text(probe)} | 1 |`);
    const ratio = (read.processorS / probe.processorS).toFixed(2);
    console.log(
      `| frames read, compared and kept | ${text(read)}, ${more.toFixed(0)} MB more than at rest | ${ratio} x |`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function text({ processorS, seconds, megabytes }: Cost): string {
  return `${processorS.toFixed(1)} s of processor time in ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB`;
}

/** One minute is coded and repeated. */
async function makeVideo(folder: string, minutes: number): Promise<string> {
  const [minute, path] = [join(folder, "minute.mp4"), join(folder, "video.mp4")];
  const scenes =
    "testsrc2=s=1920x1080:r=30:d=60,hue=h='trunc(t/5)*47',drawbox=x='trunc(t/5)*140':y=200:w=300:h=500:t=fill";
  await run([
    "ffmpeg",
    "-v",
    "error",
    "-f",
    "lavfi",
    "-i",
    scenes,
    "-c:v",
    "libx264",
    "-preset",
    "veryfast",
    "-pix_fmt",
    "yuv420p",
    minute,
  ]);
  const repeat = ["-stream_loop", String(minutes - 1), "-i", minute, "-c", "copy"];
  await run(["ffmpeg", "-v", "error", ...repeat, path]);
  return path;
}

async function run(command: readonly string[]): Promise<Cost & { readonly output: string }> {
  const start = performance.now();
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "inherit" });
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, memoryBelow(child.pid));
  }, LOOK_MS);
  const output = await new Response(child.stdout).text();
  const exitCode = await child.exited;
  clearInterval(look);
  if (exitCode !== 0) throw new Error(`${command[0]} failed`);
  // It includes the processes that this one has waited for.
  const micros = child.resourceUsage()?.cpuTime.total ?? 0n;
  const seconds = (performance.now() - start) / 1000;
  return { processorS: Number(micros) / 1e6, seconds, megabytes: most / 1e6, output };
}

/** Bytes that a process and all that descend from it occupy. */
function memoryBelow(root: number): number {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + residentBytes(pid), 0);
}

function parentOf(pid: string): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat === undefined
    ? undefined
    : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function residentBytes(pid: number): number {
  return Number(read(`/proc/${pid}/statm`)?.split(" ")[1] ?? 0) * PAGE_BYTES;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process has ended.
    return undefined;
  }
}
