import { CLIENT_NAMES, type ClientName, findClient } from "./catalogue.ts";

/** Other names that people use for a client, reduced to letters and digits. */
const OTHER_NAMES: Readonly<Record<ClientName, readonly string[]>> = {
  "claude-code": [],
  "claude-desktop": [],
  cursor: [],
  vscode: ["visualstudiocode", "code", "copilot"],
  codex: ["openai", "chatgpt"],
  gemini: ["google"],
  windsurf: ["codeium", "cascade"],
  zed: [],
};

/** Minimum letters with which a part of a name stands for it. */
const PART_MIN = 3;

/** The clients that an unknown name may mean, in the order of the catalogue. */
export function similarClients(name: string): readonly ClientName[] {
  const wanted = plain(name);
  const namesOf = (client: ClientName): readonly string[] => [
    plain(client),
    plain(findClient(client)?.title ?? ""),
    ...OTHER_NAMES[client],
  ];
  const same = CLIENT_NAMES.filter((client) => namesOf(client).includes(wanted));
  if (same.length > 0) return same;
  return CLIENT_NAMES.filter((client) =>
    namesOf(client).some((known) => isPart(wanted, known) || isPart(known, wanted)),
  );
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function isPart(part: string, whole: string): boolean {
  return part.length >= PART_MIN && whole.includes(part);
}
