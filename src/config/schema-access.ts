import { z } from "zod";
import { flag, mapOf, optionalName, optionalSecretName, textList } from "./fields.ts";

/** Who may use the HTTP interface. */
export const API = {
  api_key: optionalSecretName(
    "One bearer key with access to all owners. Excludes `api.user_keys`.",
    "not blank",
  ),
  user_keys: mapOf(z.string(), {
    default: {},
    bounds: "no blank owner or key, no key twice",
    isSecret: true,
    description: 'A bearer key for each owner: {"<user_id>":"<key>"}. Excludes `api.api_key`.',
  }),
  cors_origins: textList("Web origins that may call the API; empty: none."),
  cors_allow_credentials: flag({
    default: false,
    description: "Let listed origins send credentials; ignored with the origin `*`.",
  }),
};

/** Whose memories the MCP interface offers. */
export const MCP = {
  user_id: optionalName(
    "Binds `svc mcp` over stdio to one owner. Excludes `mcp.user_keys`.",
    "not blank",
  ),
  user_keys: mapOf(z.string(), {
    default: {},
    bounds: "no blank owner or key, no key twice",
    isSecret: true,
    description: "Keys of owners for network transports; refused with stdio.",
  }),
};
