import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { answerOf, plant } from "../../../scripts/quality/extraction-flaws.ts";
import { askAbout } from "../../../scripts/quality/extraction-model.ts";
import { readConversations } from "../../../scripts/quality/extraction-set.ts";
import { type Received, startProvider } from "../../adapters/language-model/provider-server.ts";

// Every claim of the set is embedded and published.
setDefaultTimeout(120_000);

const conversations = readConversations();
const servers: (() => void)[] = [];
afterAll(() => {
  for (const stop of servers) stop();
});

/** A model over HTTP that answers by the turns it is shown: with what the set states, and with mistakes on top. */
function model(withMistakes: boolean) {
  const server = startProvider("openai", [
    ({ body }: Received) => {
      const prompt = String(body.messages.at(-1)?.content);
      const shown = conversations.find(({ turns }) =>
        turns.every(({ content }) => prompt.includes(content)),
      );
      if (shown === undefined) return "nothing";
      const turns = plant(shown, conversations).map(({ claims }) => ({
        claims: claims
          .filter(({ flaw }) => withMistakes || flaw === undefined)
          .map(({ claim }) => claim),
      }));
      return answerOf(turns);
    },
  ]);
  servers.push(server.stop);
  const baseUrl = `${server.url}/v1`;
  return { provider: "ollama" as const, model: "scripted", apiKey: undefined, baseUrl };
}

test("what a faultless model says is believed, in one request for each conversation", async () => {
  const some = conversations.filter((_, at) => at % 12 === 0);
  const measured = await askAbout(model(false), some);
  expect(measured).toMatchObject({ failedTurns: 0, calls: some.length });
  expect(measured.found / measured.expected).toBeGreaterThanOrEqual(0.98);
  expect(measured.wrongRetirements).toBe(0);
  expect(measured.wrongOwner).toBe(0);
});

test("of what a model with hundreds of mistakes says, the right claims are believed", async () => {
  const some = conversations.filter((_, at) => at % 6 === 0);
  const measured = await askAbout(model(true), some);
  const turns = some.reduce((sum, { turns }) => sum + turns.length, 0);
  expect(measured).toMatchObject({ turns, failedTurns: 0 });
  expect(measured.found / measured.expected).toBeGreaterThanOrEqual(0.98);
  expect(measured.right / measured.kept).toBeGreaterThanOrEqual(0.98);
  expect(measured.wrongRetirements).toBe(0);
  expect(measured.wrongOwner).toBe(0);
  expect(Object.keys(measured.drops).length).toBeGreaterThan(15);
});
