import type { Welcome } from "./link/hello.ts";
import { repeatableTools } from "./repeatable-tools.ts" with { type: "macro" };

/** What processes that use the memory of this one are told. Made when the program is built, like the list of tools. */
export const WELCOME: Welcome = { repeatable: repeatableTools() };
