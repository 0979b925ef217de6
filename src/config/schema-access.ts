import { z } from "zod";
import {
  flag,
  listOf,
  mapOf,
  member,
  optionalFlag,
  optionalName,
  optionalSecretName,
  secret,
  textList,
} from "./fields.ts";

/** A host name, an IPv4 address, or an IPv6 address in brackets; neither scheme nor port. */
const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)$/;

/** Who may use the HTTP interface. */
export const API = {
  api_key: optionalSecretName(
    "One bearer key with access to all owners. Excludes `api.user_keys`.",
    "not blank",
  ),
  user_keys: mapOf(
    secret,
    { default: {}, bounds: "no blank owner or key, no key twice", isSecret: true },
    'A bearer key for each owner: {"<user_id>":"<key>"}. Excludes `api.api_key`.',
  ),
  allowed_hosts: listOf(
    z.string().trim().toLowerCase().regex(HOST_NAME),
    { default: [], bounds: "host names or addresses, without scheme and port" },
    "Names by which requests may address the server in addition to the loopback ones, for example that of a proxy in front. No effect with keys: then any name will do.",
  ),
  metrics: flag(false, "Answer `GET /metrics` with numbers for Prometheus, to operators."),
  metrics_key: optionalSecretName(
    "A bearer key that opens `/metrics` and nothing else, and is needed for it where there is no other key. Needed with `api.user_keys`, whose holders may not read it.",
    "not blank",
  ),
  cors_origins: textList(
    "Web origins that may call the API, as browsers send them (`http://localhost:3000`, without a path); empty: only pages of this machine.",
  ),
  cors_allow_credentials: flag(
    false,
    "Let listed origins send credentials; ignored with the origin `*`.",
  ),
  inspector: optionalFlag(
    "Serve the inspector's page at `/inspect/`. Unset: only where nobody but this machine can reach the server. `false`: nowhere, and `svc open` refuses.",
  ),
};

/** Whose memories the MCP interface offers. */
export const MCP = {
  user_id: optionalName(
    "Binds `svc mcp` over stdio to one owner. Excludes `mcp.user_keys`.",
    "not blank",
  ),
  answers: member(
    ["json", "text"],
    "json",
    "Form of the text of a tool's answer. `json`: the object of the structured content. `text`: the same in words and few tokens, for assistants that show the text to the model. `svc mcp --answers` overrides it.",
  ),
  user_keys: mapOf(
    secret,
    { default: {}, bounds: "no blank owner or key, no key twice", isSecret: true },
    "Keys of owners for network transports; refused with stdio.",
  ),
};
