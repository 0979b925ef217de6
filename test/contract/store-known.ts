import { describe, expect, test } from "bun:test";
import { ownerReferenceId } from "../../src/domain/extraction/plan/context.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { KnownLookup } from "../../src/ports/store/work.ts";
import { anEvent, freshId, type Memory, put } from "./samples.ts";
import { retire } from "./store-change.ts";
import type { StorePlace, StoreWorld } from "./store-contract.ts";
import { link } from "./store-graph.ts";

const EVENT = anEvent();

function lookup(given: Partial<KnownLookup> = {}): KnownLookup {
  return { event: EVENT, names: [], values: [], shownIds: [], ...given };
}

function entity(content: string, given: Memory = {}): Memory {
  return { content, nodeType: "entity", metadata: { entity_type: "person" }, ...given };
}

function claim(object: string, given: Memory = {}): Memory {
  return { content: `About ${object}.`, nodeType: "fact", metadata: { object }, ...given };
}

const ids = (nodes: readonly (MemoryNode | undefined)[]): readonly Uuid[] =>
  nodes.flatMap((node) => node?.id ?? []);

async function entitiesOf(store: Store, ...names: readonly string[]): Promise<readonly Uuid[]> {
  const { entities } = await store.knownMemories(lookup({ names }));
  return entities.map(({ id }) => id);
}

/** An entity with claims about values. @returns the ids of the claims */
async function withClaims(
  { store, place }: { readonly store: Store; readonly place: StorePlace },
  subject: MemoryNode | undefined,
  ...objects: readonly string[]
) {
  const claims = await put(store, ...objects.map((object) => claim(object)));
  for (const each of claims) await link(place, subject, each, { type: "has_fact" });
  return ids(claims);
}

/** What a plan may need of what is there. */
export function describeKnownMemories(world: StoreWorld): void {
  describe("what a plan may need", () => {
    test("are the active entities of a name, in any case, by id", async () => {
      const { store } = await world.fresh();
      const [first, second, third] = await put(
        store,
        entity("  ZOË "),
        entity("Zoë", { metadata: { entity_type: "product" } }),
        entity("Zoë", { lifecycleState: "superseded" }),
        entity("Zoëlle"),
        { content: "Zoë" },
        entity("Zoë", { userId: "bob" }),
        entity("Zoë", { scope: "project" }),
        entity("Zoë", { metadata: { identity_status: "unresolved_reference" } }),
        entity("Kurt"),
      );

      expect(await entitiesOf(store, "zoë")).toEqual(ids([first, second]));
      expect(await entitiesOf(store, "zoë", "kurt", "nobody")).toHaveLength(3);
      expect(await entitiesOf(store)).toEqual([]);
      expect(third?.lifecycleState).toBe("superseded");
    });

    test("are as they stand now, whoever wrote them", async () => {
      const { store, place } = await world.fresh();
      const other = await world.open(place);
      const [old] = await put(store, entity("Ada"));
      expect(await entitiesOf(other, "ada")).toEqual(ids([old]));

      const [next] = await put(store, entity("ada"));
      await retire(store, "archived", old);

      for (const each of [store, other]) expect(await entitiesOf(each, "ada")).toEqual(ids([next]));
    });

    test("are those of a joined owner, too", async () => {
      const { store } = await world.fresh();
      const [adas] = await put(store, entity("Kurt"));
      expect(await entitiesOf(store, "kurt")).toEqual(ids([adas]));
      const [bobs] = await put(store, entity("Kurt", { userId: "bob" }));
      expect(await entitiesOf(store, "kurt")).toEqual(ids([adas]));

      await store.owners.move({
        ...{ from: "bob", into: "ada", isJoin: true, actorId: "ada" },
        ...{ id: freshId(), settingId: freshId() },
      });

      expect(await entitiesOf(store, "kurt")).toEqual(ids([adas, bobs]));
    });

    test("are the claims about these entities that may mean one of the values", async () => {
      const { store, place } = await world.fresh();
      const [ada, graz] = await put(store, entity("Ada"), entity("Graz"));
      const objects = ["Graz", "an insulin pump", "green_tea", "Wien", "pumpkin"];
      const made = await withClaims({ store, place }, ada, ...objects);
      const [first, pump, tea] = made;
      const nodes = await Promise.all(made.map((id) => store.node(id, "ada")));
      await link(place, nodes[0], graz);
      const [retired] = await put(store, claim("Graz", { lifecycleState: "superseded" }));
      await link(place, ada, retired, { type: "has_fact" });

      const values = ["GRAZ", "pump", "Green  tea", "nothing"];
      const { claims } = await store.knownMemories(lookup({ names: ["ada"], values }));

      const byId = new Map(claims.map((known) => [known.node.id, known]));
      expect([...byId.keys()].toSorted()).toEqual(
        [first, pump, tea].flatMap((id) => id ?? []).toSorted(),
      );
      expect(byId.get(first ?? freshId())).toMatchObject({
        ...{ node: nodes[0], subjectIds: ids([ada]), objectIds: ids([graz]) },
      });
      expect(byId.get(pump ?? freshId())).toMatchObject({ objectIds: [] });
      const { claims: none } = await store.knownMemories(lookup({ names: ["graz"], values }));
      expect(none).toEqual([]);
    });

    test("are the node that stands for the owner, its claims, and all names of the owner", async () => {
      const { store, place } = await world.fresh();
      const id = ownerReferenceId("ada", "personal");
      const [self, elsewhere] = await put(
        store,
        entity("I", { id, metadata: { identity_status: "owner_reference" } }),
        entity("I", { id: ownerReferenceId("ada", "project"), scope: "project" }),
      );
      const [own] = await withClaims({ store, place }, self, "Graz");
      await store.owners.move({
        ...{ from: "ada", into: "lovelace", isJoin: false, actorId: "ada" },
        ...{ id: freshId(), settingId: freshId() },
      });
      const event = { ...EVENT, userId: "lovelace" };

      const known = await store.knownMemories(lookup({ event, values: ["graz"] }));

      expect(known.owner?.id).toBe(id);
      expect(elsewhere?.id).not.toBe(id);
      expect(known.ownerNames).toEqual(new Set(["lovelace", "ada"]));
      expect(known.claims.map(({ node }) => node.id)).toEqual([own ?? freshId()]);
      await retire(store, "archived", await store.node(id, "lovelace"));
      expect((await store.knownMemories(lookup({ event }))).owner?.lifecycleState).toBe("archived");
    });

    test("are the memories that were shown, of this owner and scope", async () => {
      const { store } = await world.fresh();
      const memories = await put(
        store,
        { content: "one" },
        { content: "gone", lifecycleState: "archived" },
        { content: "of bob", userId: "bob" },
        { content: "of work", scope: "project" },
      );
      const shownIds = [...ids(memories), freshId()];

      const { shown } = await store.knownMemories(lookup({ shownIds }));

      expect([...shown.keys()].toSorted()).toEqual([...ids(memories.slice(0, 2))].toSorted());
      expect(shown.get(shownIds[0] ?? freshId())).toMatchObject({ content: "one" });
    });

    test("is nothing of an owner who has nothing", async () => {
      const { store } = await world.fresh();
      const event = { ...EVENT, userId: "eve" };

      const known = await store.knownMemories(lookup({ event, names: ["ada"] }));

      expect(known).toMatchObject({ entities: [], claims: [], owner: undefined });
    });
  });
}
