/** What a schema offers is taken: each member of a closed set, each default, true and false. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { OPERATIONS } from "../../../src/surface/contract/core/operations.ts";
import { exampleOf, followed, type Schema } from "../../../src/surface/http/docs-page.ts";
import { shownSchemas } from "../../../src/surface/mcp/shown-schemas.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { KEYS, useApps } from "../http/engine-app.ts";
import { type ApiOperation, DOCUMENT } from "../http/fuzz/document.ts";
import { settle, type World } from "../http/fuzz/world.ts";
import { useTools } from "../mcp/served-tools.ts";
import { FILE } from "../operations/calls.ts";

// Some hundred requests of a real engine.
setDefaultTimeout(120_000);

type Json = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;

/** A value that a schema offers at a place, within one that is as small as it may be. */
type Offer = { readonly at: string; readonly value: unknown };

const { schemas } = DOCUMENT;

/** Every offer that a schema holds, however deep. */
function offersOf(unread: Schema, at: string): Offer[] {
  const schema = followed(unread, schemas);
  const { anyOf, items, properties } = schema;
  const smallest = Object(exampleOf(schema, schemas));
  // SAFETY: in these places of a schema there are schemas.
  const [options, members] = [(anyOf ?? []) as Schema[], (properties ?? {}) as Members];
  return [
    ...valuesOf(schema).map((value) => ({ at, value })),
    ...options.flatMap((option) => offersOf(option, at)),
    // SAFETY: here as well.
    ...(items === undefined ? [] : offersOf(items as Schema, `${at}[]`)).map((offer) => ({
      at: offer.at,
      value: [offer.value],
    })),
    ...Object.entries(members).flatMap(([name, member]) =>
      offersOf(member, `${at}.${name}`).map((offer) => ({
        at: offer.at,
        value: { ...smallest, [name]: offer.value },
      })),
    ),
  ];
}

function valuesOf({ enum: members, type, ...schema }: Schema): unknown[] {
  return [
    ...(Array.isArray(members) ? members : []),
    ...(type === "boolean" ? [true, false] : []),
    ...[schema["const"], defaultOf(schema)].filter((value) => value !== undefined),
  ];
}

/** In bodies of HTTP a default stands under another name. */
function defaultOf(schema: Schema): unknown {
  return schema["default"] ?? schema["x-default"];
}

/** What there is of ada, and an event of hers from which something is to be extracted. */
type Filled = Pick<World, "known"> & {
  readonly queued: string;
  /** An archived memory. */
  readonly retired: string;
  /** A memory to erase, and what confirms that. */
  readonly erased: Json;
};

async function filled(engine: MemoryEngine, store: Store): Promise<Filled> {
  const { known } = await settle(engine);
  const event = anEvent();
  await store.admit(anAdmission([event], { extracts: true }));
  const { nodeId } = await engine.storeWithReceipt({ userId: "ada", content: "Soon forgotten." });
  const { confirm } = await engine.forget({ userId: "ada", ids: [nodeId] });
  const erased = { ids: [nodeId], confirm };
  const retired = await engine.storeWithReceipt({ userId: "ada", content: "An old list." });
  await engine.archive(retired.nodeId);
  return {
    known,
    retired: retired.nodeId,
    queued: event.id,
    erased,
  };
}

/** A conditional memory says on what it depends. */
function onCondition(given: Json): Json {
  return given["epistemic_type"] === "conditional" ? { metadata: { condition: "it rains" } } : {};
}

/** The request of an offer: about things of ada that there are, and with what some values need beside them. */
function requestOf(operation: string, value: unknown, world: Filled): Json {
  const { known, queued } = world;
  // SAFETY: a request is an object.
  const { query, ...all } = value as Json;
  // A conversation has the texts of its messages, and everything has all ids.
  const over = "messages" in all ? ["content"] : all["everything"] === true ? ["ids"] : [];
  const given: Json = Object.fromEntries(
    Object.entries(all).filter(([name]) => !over.includes(name)),
  );
  const isForgetting = operation.includes("forget");
  const [node] = operation.includes("condition") ? known.conditional : known.nodes;
  const ids: Json = {
    node_id: "restore" in given ? world.retired : node,
    event_id: queued,
    request_id: known.requests[0],
  };
  const filled = Object.entries(given).map(([name, member]) => [name, ids[name] ?? member]);
  const isQuery = typeof query === "object" && query !== null;
  return {
    ...Object.fromEntries(filled),
    ...(query !== undefined && {
      query: isQuery ? requestOf(operation, query, world) : query,
    }),
    ...(isForgetting &&
      given["everything"] !== true &&
      (given["mode"] === "erase" ? world.erased : { ids: [node] })),
    ...onCondition(given),
    ...(Array.isArray(given["items"]) && {
      items: given["items"].map((item: Json) => ({ ...item, ...onCondition(item) })),
    }),
    // Amounts of different units are never added.
    ...(operation.includes("quantities") &&
      Array.isArray(given["group_by"]) && {
        group_by: [...new Set(["unit", ...given["group_by"]])],
      }),
  };
}

describe("each value that a schema offers is taken", () => {
  const apps = useApps();
  const tools = useTools();

  type Sent = readonly [operation: ApiOperation, query: string, body: Json | undefined];

  function requestsOf(operation: ApiOperation, world: Filled): Sent[] {
    const { id, parameters, body } = operation;
    const asked = parameters.flatMap(({ name, schema }) =>
      offersOf(schema, name).map(({ value }): Sent => [operation, `?${name}=${value}`, undefined]),
    );
    const given = body === undefined ? [] : offersOf(body.schema, "body");
    return [
      ...asked,
      ...given.map(({ value }): Sent => [operation, "", requestOf(id, value, world)]),
    ];
  }

  test("over HTTP", async () => {
    const { engine, store, ask } = await apps.open(KEYS);
    const world = await filled(engine, store);
    const requests = DOCUMENT.operations.flatMap((operation) => requestsOf(operation, world));
    const refused: string[] = [];
    for (const [{ id, method, path, takesFile }, query, body] of requests) {
      const ids = { ...requestOf(id, { node_id: "", event_id: "" }, world) };
      if (id === "replace_node") {
        const content = `A memory to replace, ${refused.length}`;
        ids["node_id"] = (await engine.storeWithReceipt({ userId: "ada", content })).nodeId;
      }
      const target = path.replace(/\{(\w+_id)\}/, (_, name: string) => String(ids[name]));
      const sent = takesFile ? { body: JSON.parse(FILE) } : { body };
      const { status, json } = await ask(`${target}${query}`, { key: "key-a", method, ...sent });
      if (status === 200) continue;
      refused.push(`${id} ${query} ${JSON.stringify(body)}: ${json["detail"]}`);
    }
    expect(refused).toEqual([]);
    expect(requests.length).toBeGreaterThan(250);
  });

  test("over MCP", async () => {
    const { engine, store, connect } = await tools.open();
    const world = await filled(engine, store);
    const { client, call } = await connect("ada");
    const refused: string[] = [];
    let taken = 0;
    for (const { name, inputSchema } of (await client.listTools()).tools) {
      for (const { value } of offersOf(inputSchema, "arguments")) {
        const args = requestOf(name, value, world);
        const { structured, isError, text } = await call(name, args);
        if (!isError && !("error" in structured)) taken += 1;
        else refused.push(`${name} ${JSON.stringify(args)}: ${text}`);
      }
    }
    expect(refused).toEqual([]);
    expect(taken).toBeGreaterThan(120);
  });
});

describe("defaults", () => {
  const shown = shownSchemas();

  /** The members of a schema, and those of their own, by name. */
  function membersOf(unread: Schema): [string, Schema][] {
    const { properties } = followed(unread, schemas);
    // SAFETY: members of an object are schemas.
    return Object.entries((properties ?? {}) as Members).flatMap(([name, member]) => [
      [name, member],
      ...membersOf(member),
    ]);
  }

  const both = OPERATIONS.flatMap(({ name, mcp }) => {
    const operation = DOCUMENT.operations.find(({ id }) => id === name);
    return mcp === undefined || operation === undefined ? [] : { tool: mcp.tool, operation };
  });

  test.each(both)("$tool declares those that HTTP declares", ({ tool, operation }) => {
    const { parameters, body } = operation;
    const overHttp = new Map([
      ...parameters.map(({ name, schema }): [string, Schema] => [name, schema]),
      ...(body === undefined ? [] : membersOf(body.schema)),
    ]);
    const { required = [], ...input } = shown[tool]?.input ?? {};
    const differing = membersOf(input).filter(([name, member]) => {
      const other = [required].flat().includes(name) ? undefined : overHttp.get(name);
      return other !== undefined && !Bun.deepEquals(defaultOf(member), defaultOf(other));
    });
    expect(differing).toEqual([]);
  });

  test("a tool declares its defaults by `default`, not in words, but for what only the server knows", () => {
    const inWords = JSON.stringify(shown).match(/Default [^"]*/g) ?? [];
    expect([...new Set(inWords)]).toEqual(["Default now."]);
  });

  test("the size of a context has none, since the server may be set to another", () => {
    const members = new Map(membersOf(shown["memory_retrieve"]?.input ?? {}));
    expect(members.get("token_budget")).toMatchObject({ type: "integer" });
    expect(members.get("token_budget")).not.toHaveProperty("default");
  });

  test.each([
    ["memory_store", { node_type: "note", scope: "personal", role: "user" }],
    ["memory_ingest", { scope: "personal", role: "user", first_person_owner: false }],
    ["memory_process_materializations", { budget_ms: 1000 }],
    ["memory_retrieve", { retrieval_mode: "default", include_context: false }],
    ["memory_scan_nodes", { limit: 100, lifecycle_states: ["tentative", "stable", "contested"] }],
  ])("those of %s are %j", (tool, defaults) => {
    // SAFETY: an input has properties.
    const members = shown[tool]?.input["properties"] as Members;
    for (const [name, value] of Object.entries(defaults)) {
      expect(members[name]).toMatchObject({ default: value });
    }
  });
});
