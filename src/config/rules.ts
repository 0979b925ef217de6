import { databaseUrlProblem, withoutPassword } from "../domain/database-url.ts";
import { EPISTEMIC_TYPES, NODE_TYPES } from "../domain/enums.ts";
import type { Secret } from "../lib/secret.ts";
import { parseUuid } from "../lib/uuid.ts";
import type { Complaint } from "./complaint.ts";
import { extractionComplaints } from "./extraction-rules.ts";
import { retrievalComplaints } from "./retrieval-rules.ts";
import type { Config } from "./schema.ts";
import { embeddingComplaints } from "./schema-embedding.ts";
import { modelComplaints } from "./schema-models.ts";
import { visionComplaints } from "./schema-vision.ts";

/** Errors in a configuration across its settings; empty if it is valid. */
export function checkRules(config: Config): readonly Complaint[] {
  return [
    ...databaseRules(config),
    ...namespaceRules(config),
    ...embeddingComplaints(config.embedding),
    ...originRules(config),
    ...accessRules(config),
    ...retrievalComplaints(config),
    ...extractionComplaints(config),
    ...modelComplaints(config),
    ...visionComplaints(config.vision),
    ...mapRules(config),
  ];
}

function databaseRules(config: Config): Complaint[] {
  const { database_url: url, pack_path: pack, encryption_enabled: isEncrypted } = config;
  if (url === undefined) return [];
  const complaints: Complaint[] = [];
  if (pack !== undefined) {
    const reason = "cannot be combined with pack_path; unset one of the two";
    complaints.push({ setting: "database_url", reason });
  }
  const problem = databaseUrlProblem(url.reveal());
  if (problem !== undefined) complaints.push({ setting: "database_url", reason: problem });
  if (isEncrypted === true) {
    const reason =
      "encrypts packs, and database_url names a database, whose server encrypts its disk; unset one of the two";
    complaints.push({ setting: "encryption_enabled", reason });
  }
  if (config.encryption_key?.reveal()) {
    const reason = "is the key of a pack, and database_url names a database; unset one of the two";
    complaints.push({ setting: "encryption_key", reason });
  }
  if (config.namespace_id !== undefined) {
    const reason =
      "is the identity of a pack, and database_url names a database; unset one of the two";
    complaints.push({ setting: "namespace_id", reason });
  }
  return complaints;
}

function namespaceRules({ namespace_id: id }: Config): Complaint[] {
  if (id === undefined || parseUuid(id) !== undefined) return [];
  return [{ setting: "namespace_id", reason: "is no UUID; unset it or give one" }];
}

/** Origins that no browser sends in this form, so that they would match nothing, silently. */
function originRules({ api }: Config): Complaint[] {
  return api.cors_origins.flatMap((origin) => {
    const sent = originOf(origin);
    if (sent === origin) return [];
    const instead =
      sent === undefined ? 'for example "http://localhost:3000"' : JSON.stringify(sent);
    const reason = `${JSON.stringify(withoutPassword(origin))} is no origin, so no page would match it; write ${instead}`;
    return [{ setting: "api.cors_origins", reason }];
  });
}

/** How a browser writes an origin; undefined if there is none in a text. Schemes of other programs have their own rules. */
function originOf(text: string): string | undefined {
  if (text === "*" || text === "null") return text;
  if (!/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text)) return undefined;
  if (!/^https?:/i.test(text)) return text;
  return URL.parse(text)?.origin;
}

function accessRules({ api, mcp }: Config): Complaint[] {
  const complaints: Complaint[] = [];
  for (const name of ["api_key", "metrics_key"] as const) {
    if (api[name]?.reveal().trim() !== "") continue;
    const reason = "is blank, and would match nothing; unset it or give it a key";
    complaints.push({ setting: `api.${name}`, reason });
  }
  const others = [api.api_key, ...Object.values(api.user_keys), ...Object.values(mcp.user_keys)];
  const own = api.metrics_key?.reveal().trim();
  if (own !== undefined && others.some((key) => key?.reveal().trim() === own)) {
    const reason =
      "is also a key that opens memories, and it is to open nothing but numbers; give it a key of its own";
    complaints.push({ setting: "api.metrics_key", reason });
  }
  if (api.api_key !== undefined && Object.keys(api.user_keys).length > 0) {
    const reason = "cannot be combined with api.user_keys; unset one of the two";
    complaints.push({ setting: "api.api_key", reason });
  }
  if (mcp.user_id?.trim() === "") {
    complaints.push({ setting: "mcp.user_id", reason: "is blank; unset it or name an owner" });
  }
  if (mcp.user_id !== undefined && Object.keys(mcp.user_keys).length > 0) {
    const reason = "cannot be combined with mcp.user_keys; unset one of the two";
    complaints.push({ setting: "mcp.user_id", reason });
  }
  complaints.push(...keyRules("api.user_keys", api.user_keys));
  complaints.push(...keyRules("mcp.user_keys", mcp.user_keys));
  return complaints;
}

function keyRules(setting: string, keys: Readonly<Record<string, Secret>>): Complaint[] {
  const owners = Object.keys(keys);
  const texts = Object.values(keys).map((key) => key.reveal());
  const complaints: Complaint[] = [];
  if (owners.some((owner) => owner.trim() === "")) {
    complaints.push({ setting, reason: "names a blank owner; give every owner a name" });
  }
  const keyless = owners.find((owner) => keys[owner]?.reveal().trim() === "");
  if (keyless !== undefined) {
    const reason = `has a blank key for ${JSON.stringify(keyless)}; give every owner a key`;
    complaints.push({ setting, reason });
  }
  if (new Set(texts).size < texts.length) {
    const reason = "has one key for two owners; give every owner its own key";
    complaints.push({ setting, reason });
  }
  return complaints;
}

function mapRules(config: Config): Complaint[] {
  const complaints = [
    ...keysWithin("epistemic_weights", config.epistemic_weights, EPISTEMIC_TYPES),
    ...keysWithin("organizer.default_ttl_days", config.organizer.default_ttl_days, NODE_TYPES),
    ...keysWithin("organizer.fade_after_days", config.organizer.fade_after_days, NODE_TYPES),
    ...unseenUses(config),
  ];
  for (const key of Object.keys(config.confidence_overrides)) {
    if (/^[^:]+:[^:]+$/.test(key)) continue;
    const reason = `${JSON.stringify(key)} is not of the form epistemic:source, such as asserted:user_stated`;
    complaints.push({ setting: "confidence_overrides", reason });
  }
  return complaints;
}

/** Receipts are what tells that a memory was used. */
function unseenUses({ organizer, receipts }: Config): Complaint[] {
  const { retention_days: kept } = receipts;
  const longest = Math.max(0, ...Object.values(organizer.fade_after_days));
  if (kept === undefined || longest <= kept) return [];
  const reason = `is ${longest} days, and receipts, which tell that a memory was used, are kept for ${kept}; raise receipts.retention_days`;
  return [{ setting: "organizer.fade_after_days", reason }];
}

function keysWithin(
  setting: string,
  map: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Complaint[] {
  return Object.keys(map)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      setting,
      reason: `${JSON.stringify(key)} is not one of ${known.join(", ")}`,
    }));
}
