import { release } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import { EMBEDDED } from "../adapters/native/embedded.ts";
import { openSqlite } from "../adapters/native/load-library.ts";
import { PLATFORM } from "../adapters/native/system-files.ts";
import { includedModels } from "./models.ts";

/** The version of this program, for example `1.4.0`. */
export const VERSION: string = manifest.version;

/** The versions of this program and its parts, one per line, for bug reports. */
export function versionReport(): string {
  const parts = Object.entries(EMBEDDED).filter(([key]) => !key.startsWith("model/"));
  const isExecutable = parts.length > 0;
  const lines = [
    ["Platform", `${PLATFORM}, kernel ${release()}`],
    ["Build", isExecutable ? `executable, Bun ${Bun.version}` : `from source, Bun ${Bun.version}`],
    ["SQLite", `${sqliteVersion()}${"svcsqlite" in EMBEDDED ? "" : ", Bun's"}`],
    ["Native parts", isExecutable ? partNames(parts) : "those of the installed packages"],
    [
      "Models",
      includedModels()
        .map(({ name }) => name)
        .join(", "),
    ],
  ];
  const told = lines.map(([name = "", value]) => `${name.padEnd(14)}${value}`);
  return [`svc ${VERSION}`, ...told, ""].join("\n");
}

/** Their folders are named by version, or by a hash of their checksums. */
function partNames(parts: readonly (readonly [string, { readonly group: string }])[]): string {
  return [...new Set(parts.map(([, { group }]) => group.split("/")[0] ?? group))].join(", ");
}

function sqliteVersion(): string {
  const database = openSqlite(":memory:");
  try {
    return String(database.query("SELECT sqlite_version()").values()[0]?.[0]);
  } finally {
    database.close();
  }
}
