import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A registry of npm on this machine with the packages of a folder, and no others. */
export async function startRegistry(
  folder: string,
): Promise<{ readonly url: string; stop(): void }> {
  const packuments = new Map<string, object>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const path = decodeURIComponent(new URL(request.url).pathname).slice(1);
      if (path.endsWith(".tgz")) return new Response(Bun.file(join(folder, path)));
      const found = packuments.get(path);
      return found === undefined ? new Response("{}", { status: 404 }) : Response.json(found);
    },
  });
  const url = `http://127.0.0.1:${server.port}/`;
  for (const name of readdirSync(folder)) {
    const packed = readFileSync(join(folder, name));
    const files = await new Bun.Archive(packed).files("package/package.json");
    const manifest = JSON.parse((await files.get("package/package.json")?.text()) ?? "{}");
    const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
    const version = { ...manifest, dist: { tarball: `${url}${name}`, integrity } };
    packuments.set(manifest.name, {
      name: manifest.name,
      "dist-tags": { latest: manifest.version },
      versions: { [manifest.version]: version },
    });
  }
  return { url, stop: () => void server.stop(true) };
}
