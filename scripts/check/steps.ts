import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findings } from "../build/native/record.ts";
import { whyNoCompiler } from "../build/native/zig.ts";
import { whyNoPython } from "../python.ts";
import { whyNoHadolint } from "../release/hadolint.ts";
import { figureFaults, whyNotCompared } from "./figures.ts";
import { exceeded } from "./sizes.ts";
import { whyNoPrograms } from "./test-programs.ts";

/**
 * One part of the check: either a command, or a look at files that needs no process.
 * The limit of the tests and that of the build before them stay below 25 minutes together;
 * an inspection needs none.
 */
export type Step = {
  readonly name: string;
  /** Variables that the command gets besides those of the check. */
  readonly env?: Readonly<Record<string, string>>;
  readonly limitMinutes: number;
  /** Why the step cannot be taken here, in one line; undefined when it can. */
  readonly leaveOut?: () => Promise<string | undefined>;
} & ({ readonly command: readonly string[] } | { readonly inspect: () => readonly string[] });

const bun = process.execPath;

/** Runs a tool of node_modules with this very Bun, so that no Node and no global Bun is needed. */
const tool = (path: string, ...rest: readonly string[]): readonly string[] => [
  bun,
  join("node_modules", path),
  ...rest,
];

/** Format and lint of files and folders. */
export function formatStep(paths: readonly string[]): Step {
  const options = ["--config-path=scripts/config/lint.json", "--error-on-warnings", "--colors=off"];
  return {
    name: "format and lint",
    limitMinutes: 4,
    command: tool("@biomejs/biome/bin/biome", "check", ...options, ...paths),
  };
}

export function typesStep(options: readonly string[]): Step {
  const command = [
    "typescript-native/bin/tsc",
    "--noEmit",
    "--pretty",
    "false",
    "-p",
    ".",
  ] as const;
  return { name: "types", limitMinutes: 4, command: tool(...command, ...options) };
}

export function layersStep(options: readonly string[]): Step {
  const program = "dependency-cruiser/bin/dependency-cruise.mjs";
  const rules = ["--config", "scripts/config/layers.cjs", "src", "clients/js/src"];
  return { name: "layers", limitMinutes: 4, command: tool(program, ...rules, ...options) };
}

/** Whether each part of the repository keeps within its budget. */
export function sizesStep(root: string): Step {
  return { name: "sizes", limitMinutes: 0, inspect: () => exceeded(root) };
}

/** Builds the program that tests start. */
export const buildStep: Step = {
  name: "build and smoke test",
  limitMinutes: 4,
  command: [bun, "scripts/build.ts"],
};

/** Tries the client for Python with the program that was built. */
export const pythonStep: Step = {
  name: "client for Python",
  limitMinutes: 15,
  leaveOut: () => whyNoPython(),
  command: [bun, "scripts/python.ts", "check"],
};

/** Steps that need neither each other nor the tests. Every path is relative to `root`, the folder of package.json. */
export function stepsBesideTests(root: string): readonly Step[] {
  return [
    {
      name: "bun.lock names no host",
      limitMinutes: 0,
      inspect: () => hostsIn(readFileSync(join(root, "bun.lock"), "utf8")),
    },
    formatStep(["src", "clients", "test", "scripts"]),
    typesStep([]),
    { name: "types of the page", limitMinutes: 4, command: [bun, "scripts/check/page-types.ts"] },
    layersStep([]),
    sizesStep(root),
    {
      name: "figures of performance are of this program",
      limitMinutes: 0,
      leaveOut: () => whyNotCompared(root),
      inspect: () => figureFaults(root),
    },
    {
      name: "native libraries are those of their source",
      limitMinutes: 0,
      inspect: () => findings(root),
    },
    {
      name: "native libraries, made again byte for byte",
      limitMinutes: 4,
      leaveOut: () => whyNoCompiler(root),
      command: [bun, "scripts/build/native.ts", "--compare"],
    },
    {
      name: "container files",
      limitMinutes: 4,
      leaveOut: () => whyNoHadolint(root),
      command: [bun, "scripts/release/hadolint.ts"],
    },
    {
      name: "programs of the tests",
      limitMinutes: 4,
      leaveOut: async () => whyNoPrograms(),
      command: [bun, "scripts/check/test-programs.ts"],
    },
  ];
}

/** Where the tests run, and on how much of the machine. */
export type TestPlace = {
  readonly root: string;
  /** A folder in memory for temporary files; undefined where there is none. */
  readonly memory: string | undefined;
  /** The folder for temporary files on a disk. */
  readonly disk: string;
  /** The server of databases that all tests share, or why there is none. */
  readonly databases: { readonly url: string } | { readonly lacking: string };
  readonly processes: number;
};

/**
 * All suites below `test/` and `clients/`, in more processes than there are processors, since much of the time is spent waiting for
 * processes, disks and locks. The files that took longest, by `scripts/config/test-timings.json`, start first. A process keeps
 * its modules from one file to the next, so that each need not be loaded 300 times. The limit of a single test suits a loaded
 * machine with two cores.
 */
export function testsIn({ root, memory, disk, databases, processes }: TestPlace): Step {
  return {
    name: "tests",
    limitMinutes: 20,
    env: {
      // Tests of commands start what has just been built; run on their own they start the source.
      TEST_PROGRAM: join(root, "dist/svc"),
      TEST_DATABASE_URL: "url" in databases ? databases.url : "",
      TEST_DATABASE_LACKING: "url" in databases ? "" : databases.lacking,
      TMPDIR_ON_DISK: disk,
      TMPDIR: memory ?? disk,
    },
    command: [
      bun,
      "test",
      `--parallel=${processes}`,
      "--no-isolate",
      "--timings=scripts/config/test-timings.json",
      "--timeout=120000",
      "./test/",
      "./clients/",
    ],
  };
}

/**
 * The lines of a lockfile that name a host. Such a line comes from a machine with its own package registry and would
 * send every other machine there.
 */
export function hostsIn(lockfile: string): readonly string[] {
  return lockfile.split("\n").flatMap((line, index) => {
    return /https?:\/\//.test(line)
      ? [`bun.lock:${index + 1} names a host: ${line.trim().slice(0, 120)}`]
      : [];
  });
}
