import { placeName } from "../adapters/keystore/key-store.ts";
import type { KeyBackup } from "../adapters/sqlite/schema/key-backup.ts";
import { type KeySource, keyStoreOf, saltOf } from "../app/find-key.ts";
import { isPackEncrypted } from "../app/pack-key.ts";
import { layoutOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { Finding } from "./finding.ts";

/** Whether the configured pack is encrypted, where its key is, and which risks there are. */
export async function checkKey(
  config: Config,
  source: KeySource,
  backup: KeyBackup | undefined,
): Promise<Finding> {
  const layout = layoutOf(config);
  const salt = isPackEncrypted(layout) ? saltOf(layout) : undefined;
  if (salt === undefined) {
    const message = "the pack is not encrypted: anyone who can read the file can read the memories";
    return finding("ok", message);
  }
  const states = await keyStoreOf(config).places(salt);
  const problem = states.find((state) => state.problem !== undefined)?.problem;
  if (problem !== undefined) return finding("warn", problem);
  const places = [...states.map(({ place }) => placeName(place)), ...elsewhere(source)];
  const [only] = places;
  if (only === undefined) {
    return finding("ok", "encrypted; no key is kept on this machine, it is typed each time");
  }
  if (places.length > 1) return finding("ok", `encrypted; the key is in ${places.join(" and ")}`);
  if (backup?.salt === Buffer.from(salt).toString("hex")) {
    const day = backup.at.slice(0, 10);
    return finding("ok", `encrypted; the key is in ${only}, and was backed up on ${day}`);
  }
  return finding(
    "warn",
    `encrypted; the key is known from one place only, ${only}. If you lose the key, you lose the pack: keep a backup elsewhere, made with: svc key export ${shellWord(layout.kind === "file" ? layout.path : layout.databasePath)}`,
  );
}

/** Places that this program reads but does not keep keys in. */
function elsewhere(source: KeySource): readonly string[] {
  if (source.kind === "given") return ["--encryption-key"];
  return source.kind === "settings" ? ["the setting encryption_key"] : [];
}

function finding(status: Finding["status"], message: string): Finding {
  return { name: "key", status, message };
}
