import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ServerProcess, startServer } from "../../scripts/bench/server.ts";
import { freePort } from "../../scripts/check/postgres.ts";

const DOCUMENT = join(import.meta.dir, "../../docs/scale.md");
const START_LIMIT_MS = 10_000;

/** Servers of `svc`, each on a database of its own, behind HAProxy. */
export type Cluster = {
  readonly url: string;
  /** In the order of their databases. */
  readonly servers: readonly ServerProcess[];
  readonly end: () => Promise<void>;
};

let clusters = 0;

/** Starts an `svc` on each database, and HAProxy before all. @param settings of each `svc` */
export async function startCluster(
  folder: string,
  databases: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  clusters += 1;
  const servers: ServerProcess[] = [];
  for (const [number, url] of databases.entries()) {
    const server = await startServer({
      pack: join(folder, `${clusters}-${number}.pack`),
      args: ["serve", "--port", "0", "--log-level", "error"],
      environment: { SVC_DATABASE_URL: url, ...settings },
    });
    servers.push(server);
  }
  const port = await freePort();
  const file = join(folder, `${clusters}.cfg`);
  const hosts = servers.map(({ url }) => new URL(url).host);
  writeFileSync(file, settingsFor(`127.0.0.1:${port}`, hosts));
  const router = Bun.spawn(["haproxy", "-db", "-f", file], { stdout: "ignore", stderr: "inherit" });
  const url = `http://127.0.0.1:${port}`;
  await answers(`${url}/v1/health`);
  return {
    url,
    servers,
    end: async () => {
      router.kill("SIGTERM");
      await router.exited;
      for (const server of servers) await server.end("SIGTERM");
    },
  };
}

/** The settings of HAProxy that the documentation gives for three databases, for these servers. */
function settingsFor(address: string, servers: readonly string[]): string {
  const [, block = ""] = /```haproxy\n(.*?)```/s.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
  const [shared = "", backend = ""] = block.split(/^backend memories_\d+\n/m);
  if (backend === "") throw new Error(`${DOCUMENT} has no settings of HAProxy`);
  const head = shared
    .replace(/bind \S+/, `bind ${address}`)
    .replace(/mod\(\d+\)/, `mod(${servers.length})`);
  const backends = servers.map(
    (server, number) =>
      `backend memories_${number}\n${backend.replace(/(server \w+) \S+/, `$1 ${server}`)}`,
  );
  return [head, ...backends].join("");
}

async function answers(url: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    if (performance.now() > deadline) throw new Error(`HAProxy does not answer at ${url}`);
    await Bun.sleep(50);
  }
}
