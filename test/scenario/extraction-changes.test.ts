/** The built program replaces what is not true any more: by an update in a message's own words, and by a correction of an earlier memory. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type ServerProcess, startServer, svcCommand } from "../../scripts/bench/server.ts";
import {
  answerTo,
  entry,
  type Rule,
  type ScriptedProvider,
  startScripted,
} from "../adapters/language-model/scripted-provider.ts";
import { usePlace } from "./place.ts";

setDefaultTimeout(120_000);

const place = usePlace("extraction-changes");
const providers: ScriptedProvider[] = [];
afterEach(() => {
  for (const provider of providers.splice(0)) provider.stop();
});

type Json = Readonly<Record<string, unknown>>;

let packs = 0;

async function serve(rules: readonly Rule[], settings: Record<string, string> = {}) {
  packs += 1;
  const provider = startScripted({ rules });
  providers.push(provider);
  const pack = place.packIn(`p${packs}`);
  const environment = {
    ...place.environment(),
    SVC_EXTRACTION__PROVIDER: "openai",
    SVC_EXTRACTION__BASE_URL: `${provider.url}/v1`,
    SVC_EXTRACTION__API_KEY: "sk-albatross",
    ...settings,
  };
  const server = await startServer({ pack, environment });
  return { server, pack, environment, provider, ask: askOf(server) };
}

function askOf({ url }: ServerProcess) {
  return async (path: string, body?: object): Promise<Json> => {
    const response = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // SAFETY: every answer is an object.
    return (await response.json()) as Json;
  };
}

const said = (content: string, more: object = {}) => ({
  content,
  user_id: "ada",
  session_id: "s",
  first_person_owner: true,
  wait_for_extraction: true,
  ...more,
});

/** Says what a turn that matches states, with more about its first fact. */
const saying = (when: RegExp, more: (references: string) => object): Rule => ({
  when,
  reply: (asked) =>
    answerTo(asked, (content) => {
      const { facts, ...rest } = entry(content);
      if (!when.test(content)) return { facts, ...rest };
      return {
        ...rest,
        facts: facts.map((fact) => ({ ...fact, ...more(asked.references.join()) })),
      };
    }),
});
const labelOf = (references: string, text: string): string =>
  new RegExp(`label="(m\\d+)"[^>]*>[^<]*${text}`).exec(references)?.[1] ?? "none";

type Served = Awaited<ReturnType<typeof serve>>;
type Result = {
  readonly node_id: string;
  readonly content: string;
  readonly node_type: string;
  readonly older_than?: string | null;
};

/** What a question finds, best first, and what `svc explain` says of it. */
async function found({ ask, pack, environment }: Served, query: string) {
  const answer = await ask("/v1/retrieve", { user_id: "ada", query });
  // SAFETY: the shape of this endpoint's answer.
  const { results, metrics } = answer as {
    readonly results: readonly Result[];
    readonly metrics: { readonly request_id: string };
  };
  const explain = [...svcCommand(), "explain", metrics.request_id, "--db-path", pack];
  const { stdout } = Bun.spawnSync(explain, { env: environment });
  return { results, explained: stdout.toString() };
}

const shown = (results: readonly Result[]) =>
  results
    .filter(({ node_type }) => node_type !== "entity")
    .map(({ node_type, content }) => `${node_type}: ${content}`);

/** A memory and what it replaced. */
async function replacedBy({ ask }: Served, results: readonly Result[], content: string) {
  const claim = results.find((one) => one.content === content && one.node_type === "fact");
  const chain = await ask(`/v1/nodes/${claim?.node_id}/chain?direction=backward`);
  return { claim, chain };
}

const OLD = "I work at Acme.";
const NEW = "I no longer work at Acme, I work at Birch now.";

/** Says that the second message replaces what the first one stated. */
const CHANGES_JOB: Rule = {
  when: /Birch/,
  reply: (asked) =>
    answerTo(asked, (content) => {
      const { facts, entities, relationships } = entry(content);
      if (content !== NEW) return { facts, entities, relationships };
      const like = entry(OLD).facts[0];
      const fact = {
        ...like,
        object: "Birch",
        evidence_quote: NEW,
        temporal_intent: "update",
        replaces_object: "Acme",
      };
      return { entities: [], facts: [fact], relationships: [] };
    }),
};

describe("what is not true any more", () => {
  test("is replaced by the message that corrects it, and ranks below that message", async () => {
    const update = (references: string) => ({
      temporal_intent: "update",
      replaces_memory: labelOf(references, "Lisbon"),
    });
    const served = await serve([saying(/Porto/, update)], {
      SVC_ENABLE_EXTRACTION_CORRECTIONS: "true",
    });
    await served.ask("/v1/ingest", said("I live in Lisbon."));
    await served.ask("/v1/ingest", said("I moved to Porto now."));

    const { results, explained } = await found(served, "Where does Ada live, Lisbon or Porto?");
    expect(shown(results)).toEqual([
      "fact: I moved to Porto now.",
      "note: I live in Lisbon.",
      "note: I moved to Porto now.",
    ]);
    const { claim, chain } = await replacedBy(served, results, "I moved to Porto now.");
    expect(chain).toMatchObject({
      nodes: [
        {
          content: "I live in Lisbon.",
          node_type: "fact",
          lifecycle_state: "superseded",
          superseded_by: claim?.node_id,
          valid_to: expect.any(String),
        },
      ],
    });
    expect(explained).toMatch(/1 .*rank 1[^"]*"I moved to Porto now\."/);
    expect(served.provider.asked[1]?.references.join()).toContain('turns="1">I live in Lisbon.<');
  });

  test("is replaced by an update in the message's own words, without corrections", async () => {
    const fact = {
      predicate: "switched_to",
      object: "Signal",
      evidence_quote: "I switched from Slack to Signal.",
      temporal_intent: "update",
      replaces_object: "Slack",
    };
    const rule: Rule = {
      when: /Signal/,
      reply: (asked) =>
        answerTo(asked, () => {
          const { facts } = entry("I use Slack.");
          return { entities: [], facts: facts.map((like) => ({ ...like, ...fact })) };
        }),
    };
    const served = await serve([rule]);
    await served.ask("/v1/ingest", said("I use Slack."));
    await served.ask("/v1/ingest", said("I switched from Slack to Signal."));

    const { results, explained } = await found(
      served,
      "Which messenger do I use, Slack or Signal?",
    );
    const order = shown(results);
    expect(order).not.toContain("fact: I use Slack.");
    expect(order.indexOf("fact: I switched from Slack to Signal.")).toBeLessThan(
      order.indexOf("note: I use Slack."),
    );
    const { chain } = await replacedBy(served, results, "I switched from Slack to Signal.");
    expect(chain).toMatchObject({
      nodes: [{ content: "I use Slack.", lifecycle_state: "superseded" }],
    });
    expect(explained).toMatch(
      /put before what it makes outdated|older than, and perhaps no longer/,
    );
    expect(served.provider.asked.flatMap(({ references }) => references)).toEqual([]);
  });

  test("ranks below what replaced it, also as the message that said it, whatever its words", async () => {
    const served = await serve([CHANGES_JOB]);
    for (const content of [OLD, NEW]) await served.ask("/v1/ingest", said(content));

    const { results, explained } = await found(served, "Where do I work?");
    const order = shown(results);
    expect(order).not.toContain(`fact: ${OLD}`);
    const newest = order.findIndex((one) => one === `fact: ${NEW}` || one === `note: ${NEW}`);
    expect(order.indexOf(`note: ${OLD}`)).toBeGreaterThan(newest);
    const old = results.find(({ content }) => content === OLD);
    const newer = results.find(({ node_id }) => node_id === old?.older_than);
    expect(newer?.content).toBe(NEW);
    expect(explained).toMatch(/older than, and perhaps no longer true because of, memory/);
  });

  test("stays where it is as a message of which another part still holds", async () => {
    const served = await serve([CHANGES_JOB]);
    const message = `${OLD} I live in Denver.`;
    for (const content of [message, NEW]) await served.ask("/v1/ingest", said(content));

    const { results } = await found(served, "Where do I live?");
    expect(results.find(({ content }) => content === message)).not.toHaveProperty("older_than");
    expect(shown(results).slice(0, 2).join()).toContain("Denver");
  });
});
