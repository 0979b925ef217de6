/** The built program where what lies in it cannot be unpacked: a folder with content is in the way of a file, as a full disk would be. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svcCommand } from "../../scripts/bench/server.ts";
import { usePlace } from "./place.ts";

setDefaultTimeout(120_000);

const { root, environment, packIn } = usePlace("full-cache");
const cache = join(root, "cache");
const env = { ...environment(), XDG_CACHE_HOME: cache, SVC_KEY_STORE: "file", LANG: "C" };

function svc(...args: readonly string[]) {
  const { stdout, stderr } = Bun.spawnSync([...svcCommand(), ...args], { env });
  return { stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Puts a folder where the first unpacked file of that name is. @returns the path of the file */
function block(name: string): string {
  const file = readdirSync(cache, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith(`/${name}`),
  );
  const path = join(cache, file ?? "");
  rmSync(path);
  mkdirSync(path);
  writeFileSync(join(path, "content"), "");
  return path;
}

function finding(pack: string, check: string): { status: string; message: string } | undefined {
  const checks: readonly { name: string; status: string; message: string }[] = JSON.parse(
    svc("doctor", pack, "--format", "json").stdout,
  ).checks;
  return checks.find(({ name }) => name === check);
}

test("svc doctor says which file cannot be unpacked, and what to do", () => {
  const pack = packIn("notes");
  svc("init", pack);
  svc("store", pack, "The spare key lies under the flower pot");
  expect(finding(pack, "embedding")?.status).toBe("ok");

  const model = block("model_quantized.onnx");
  const searched = svc("search", pack, "spare key");
  expect(searched.stdout).toContain("flower pot");
  const embedding = finding(pack, "embedding");
  expect(embedding?.status).toBe("warn");
  expect(embedding?.message).toContain("found by words alone: cannot unpack onnx/model_quantized");
  expect(embedding?.message).toContain(`to ${model} (EISDIR`);
  expect(embedding?.message).toContain("point XDG_CACHE_HOME to a writable folder");
  rmSync(model, { recursive: true });

  block("svckernel.so");
  const library = finding(pack, "native library");
  expect(library?.status).toBe("warn");
  expect(library?.message).toStartWith("cannot unpack svckernel.so to ");
  expect(svc("search", pack, "spare key").stdout).toContain("flower pot");
});
