/** What a running program with a key lets others of its user see: the built program, SVC_EXE or dist/svc. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { leftOut, NOT_LINUX, NOT_ROOT } from "../left-out.ts";
import { usePlace } from "./place.ts";
import { programForOthers, NOBODY as USER } from "./stranger.ts";

setDefaultTimeout(120_000);

const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");
const place = usePlace("key-protection");

const lacking = NOT_LINUX ?? NOT_ROOT;
test.skipIf(lacking !== undefined)(
  `a process with a key leaves no core dump, locks its keys and is closed to its own user${leftOut(lacking)}`,
  async () => {
    const pack = place.packIn("pack");
    chownSync(place.root, USER, USER);
    chownSync(resolve(pack, ".."), USER, USER);
    const options = {
      cwd: place.root,
      env: {
        ...place.environment(),
        // Another user cannot read what this one unpacked.
        XDG_CACHE_HOME: join(place.root, "cache"),
        PATH: process.env["PATH"] ?? "",
        SVC_KEY_STORE: "file",
      },
      uid: USER,
      gid: USER,
    };
    const program = programForOthers(EXECUTABLE, place.root);
    expect(spawnSync(program, ["init", pack], options).status).toBe(0);
    const server = spawn(program, ["serve", "--db-path", pack, "--port", "0"], options);
    try {
      await new Promise<void>((settle, fail) => {
        server.once("exit", () => fail(new Error("the server ended")));
        server.stderr?.on("data", (text: Buffer) => {
          if (text.includes("http://")) settle();
        });
      });
      const proc = `/proc/${server.pid}`;
      expect(readFileSync(`${proc}/limits`, "utf8")).toMatch(/Max core file size +0 +0 /);
      expect(readFileSync(`${proc}/status`, "utf8")).toMatch(/VmLck:\s+[1-9]/);
      // The kernel gives these to the superuser when a process may not be dumped.
      expect(statSync(`${proc}/fd`).uid).toBe(0);
      const read = spawnSync("cat", [`${proc}/environ`, `${proc}/mem`], { uid: USER, gid: USER });
      expect(read.status).not.toBe(0);
      expect(read.stdout.length).toBe(0);
      // By this other processes tell whether it still lives.
      const seen = spawnSync("cat", [`${proc}/stat`], { uid: USER, gid: USER });
      expect(seen.stdout.toString().split(" ").length).toBeGreaterThan(30);
    } finally {
      server.kill("SIGKILL");
    }
  },
);

test.skipIf(lacking !== undefined)(
  `a process that joins another one is closed to its own user, too${leftOut(lacking)}`,
  async () => {
    const pack = place.packIn("shared");
    chownSync(place.root, USER, USER);
    chownSync(resolve(pack, ".."), USER, USER);
    const options = {
      cwd: place.root,
      env: {
        ...place.environment(),
        XDG_CACHE_HOME: join(place.root, "cache"),
        PATH: process.env["PATH"] ?? "",
        SVC_KEY_STORE: "file",
        SVC_ENCRYPTION_ENABLED: "true",
        SVC_ENCRYPTION_KEY: "five random words are enough",
      },
      uid: USER,
      gid: USER,
    };
    const program = programForOthers(EXECUTABLE, place.root);
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const sessions: ChildProcess[] = [];
    try {
      for (const role of ["host", "guest"]) {
        const session = spawn(program, ["mcp", "--db-path", pack], options);
        sessions.push(session);
        const answered = new Promise<void>((settle, fail) => {
          session.once("exit", () => fail(new Error(`the ${role} ended`)));
          session.stdout.once("data", () => settle());
        });
        session.stdin.write(
          `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`,
        );
        await answered;
        const proc = `/proc/${session.pid}`;
        expect(readFileSync(`${proc}/limits`, "utf8")).toMatch(/Max core file size +0 +0 /);
        expect(statSync(`${proc}/fd`).uid).toBe(0);
        const read = spawnSync("cat", [`${proc}/environ`, `${proc}/mem`], { uid: USER, gid: USER });
        expect([read.status !== 0, read.stdout.length]).toEqual([true, 0]);
      }
    } finally {
      for (const session of sessions) session.kill("SIGKILL");
    }
  },
);
