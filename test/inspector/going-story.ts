import type { Uuid } from "../../src/lib/uuid.ts";
import { type Served, type ServeOptions, serve } from "./place.ts";

type Told = { readonly at: string; readonly text: string; readonly days?: number };

/** What goes and what is gone; its texts are unlike each other, so that pieces of one are in no other. */
const TOLD = {
  guest: { at: "2026-11-01T09:00:00Z", text: "The guest network is called Heron.", days: 30 },
  fair: { at: "2026-11-18T09:00:00Z", text: "Anna is in Graz for the trade fair.", days: 7 },
  rent: { at: "2026-11-02T09:00:00Z", text: "The rent is due on the third.", days: 365 },
  kept: { at: "2026-10-28T09:00:00Z", text: "Milan waters the plants.", days: 30 },
  bike: { at: "2026-06-02T09:00:00Z", text: "The red bicycle stands in the cellar." },
  lock: { at: "2026-06-03T09:00:00Z", text: "Its lock opens with 4711." },
  doctor: { at: "2026-10-05T09:00:00Z", text: "Anna sees Doctor Weiss every spring." },
  before: { at: "2026-09-01T09:00:00Z", text: "Anna banks with Sparrow Savings." },
  bank: { at: "2026-10-01T09:00:00Z", text: "Anna moved her money to Finch and Sons." },
} as const satisfies Readonly<Record<string, Told>>;

export type GoingName = keyof typeof TOLD;
export type GoingPlace = Served & { readonly ids: Readonly<Record<GoingName, Uuid>> };
export const goingText = (name: GoingName): string => TOLD[name].text;

/** Serves anna's memory, in which two end soon, one is pinned, two are archived, one was replaced and one was forgotten. */
export async function serveGoing(options: Omit<ServeOptions, "fill"> = {}): Promise<GoingPlace> {
  const stored: Partial<Record<GoingName, Uuid>> = {};
  const served = await serve({
    ...options,
    fill: async (engine, at) => {
      for (const [name, told] of Object.entries<Told>(TOLD)) {
        at(told.at);
        const { nodeId } = await engine.storeWithReceipt({
          ...{ userId: "anna", content: told.text, role: "user", nodeType: "fact" },
          ...(told.days === undefined ? {} : { ttlDays: told.days }),
        });
        // SAFETY: the key is one of the table's own.
        stored[name as GoingName] = nodeId;
      }
      // SAFETY: every name of the table has been stored.
      const ids = stored as GoingPlace["ids"];
      at("2026-11-10T09:00:00Z");
      await engine.supersede(ids.before, ids.bank, { actorId: "codex" });
      await engine.pin(ids.kept, true, { actorId: "anna" });
      await engine.archive(ids.bike, { actorId: "anna" });
      await engine.archive(ids.lock, { actorId: "anna" });
      at("2026-11-12T09:00:00Z");
      const wanted = { userId: "anna", ids: [ids.doctor], actorId: "claude-code" };
      const { confirm } = await engine.forget(wanted);
      await engine.forget({ ...wanted, mode: "erase", confirm });
    },
  });
  // SAFETY: as above.
  return { ...served, ids: stored as GoingPlace["ids"] };
}
