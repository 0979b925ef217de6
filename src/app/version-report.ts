import { release } from "node:os";
import { EMBEDDED } from "../adapters/native/embedded.ts";
import { openSqlite } from "../adapters/native/load-library.ts";
import { PLATFORM } from "../adapters/native/system-files.ts";
import { includedModels } from "./models.ts";
import { VERSION } from "./version.ts";

/** What this program is and is made of, a line each, for a report of a fault. */
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

/** The folders into which they are unpacked have their versions, or digits of their digests, in their names. */
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
