import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { asInstant } from "../../src/lib/instant.ts";
import { nodeKey } from "../node-keys.ts";
import { type Memory, put } from "./samples.ts";
import type { RetrievalStore, World } from "./store-contract.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

async function search(store: RetrievalStore, question: string, userId = "ada"): Promise<string[]> {
  const hits = await store.searchText(question, { ...ANYTHING, userId }, 100);
  return contentsOf(store, hits, userId);
}

/** Turns of one session, a second apart. */
function turns(...contents: readonly string[]): Memory[] {
  return contents.map((content, second) => ({ content, second, sessionId: "s" }));
}

const FINDABLE = (
  [
    ["another case", "The API Region", "api REGION"],
    ["another form of the word", "She was running late", "runs"],
    ["accents in the text", "Crème brûlée à Zürich", "creme brulee zurich"],
    ["accents in the question", "Creme brulee", "crème"],
    ["composed against decomposed letters", "caf\u00e9", "cafe\u0301"],
    ["full-width letters", "ＡＢＣ company", "abc"],
    ["one word of many", "green tea", "coffee juice tea water"],
    ["a number", "Flight 4711 at noon", "4711"],
    ["Chinese", "我喜欢喝绿茶", "绿茶"],
    ["a Chinese sentence as the question", "我喜欢喝绿茶", "她也喜欢吗"],
    ["a single Chinese character inside", "我喜欢喝绿茶", "喝"],
    ["a single Chinese character at the end", "我喜欢喝绿茶", "茶"],
    ["a single Chinese character alone", "茶", "茶"],
    ["Japanese", "東京タワーに行きました", "タワー"],
    ["Thai", "ฉันชอบกาแฟ", "กาแฟ"],
    ["Korean", "서울에서 만나요", "서울에서"],
    ["Cyrillic in another case", "Привет МОСКВА", "москва"],
    ["Latin beside Chinese", "用Python写代码", "python"],
    ["a Vietnamese word typed plainly", "Anh Đức ở Đà Nẵng", "Duc"],
    ["a Polish word typed plainly", "Łukasz mieszka w Łodzi", "lodzi"],
    ["a Danish word typed plainly", "Vi sejler til Ærø", "Aero"],
    ["a Turkish word typed plainly", "Iğdır çok uzak", "Igdir"],
    ["ss for ß", "Weißgasse 12", "Weissgasse"],
    ["a text typed plainly, Polish", "Lukasz mieszka w Lodzi", "w Łodzi"],
    ["a text typed plainly, Icelandic", "Thorunn er heima", "Þórunn"],
    ["one letter typed plainly of two", "Smørrebrød på Østerbro", "Osterbro"],
    ["a part of an identifier", "fix parseConfigFile first", "config"],
    ["a part after a digit", "call parseV2Config", "config"],
    ["a part before a digit", "the OAuth2Token expired", "oauth token"],
    ["a part after an acronym", "HTTPServer is down", "server"],
    ["another form of a part", "listUsers() throws", "user"],
    ["an identifier by its parts", "parse the config", "parseConfig"],
    ["C++", "Ben writes C++", "cplusplus"],
    [".NET", "The tool is in .NET", "dotnet"],
    ["node.js", "It runs on Node.js", "nodejs"],
    ["another form, German", "Ihre Häuser sind alt", "Wem gehört das Haus?"],
    ["ue for ü", "Das sind die Tücher", "Wo ist das Tuecherregal der Tuecher?"],
    ["another form, French", "Nous mangeons des chevaux", "Où est le cheval ?"],
    ["another form, Spanish", "Ella canta canciones", "¿Qué canción le gusta?"],
    ["another form, Italian", "Abbiamo due gatte", "Dove sono i gatti?"],
    ["another form, Portuguese", "Ela tem três gatas", "Onde está o gato?"],
    ["another form, Dutch", "Wij hebben twee katten", "Waar is de kat?"],
    ["another form, Russian", "Я купил книгу", "Где книги?"],
    ["another form, a question of one word", "Wir haben Katzen", "Katze"],
    ["another form in another case", "WIR HABEN HÄUSER", "haus"],
    ["another form in decomposed letters", "Ihre Ha\u0308user sind alt", "Ha\u0308usern"],
    ["a name in a text of another language", "Andrea abita a Roma", "Who is Andrea?"],
    ["Arabic", "أحب الشاي الأخضر", "الشاي"],
    ["Hebrew beside English", "My brother lives in תל אביב now", "אביב"],
    ["a word beside emoji", "🍵tea🍵 at noon 👩‍👩‍👧", "👩‍👩‍👧 tea?"],
    ["a word in quotation marks", 'He said "halt" twice', '"halt"'],
    ["a hyphenated word", "state-of-the-art parser", "state-of-the-art"],
    ["an address", "write to ann.lee@example.org", "ann.lee@example.org"],
    ["stop words only", "To be or not to be", "to be or not to be"],
  ] satisfies readonly (readonly [name: string, text: string, question: string])[]
).map(([name, text, question]) => ({ name, text, question }));

const NO_EXPRESSIONS: readonly string[] = [
  '"',
  '""',
  'tea"',
  "tea AND coffee",
  "tea NOT green",
  "NEAR(green tea, 2)",
  "own:tea",
  "{own previous}: tea",
  "tea*",
  "^tea",
  "-tea",
  "(tea",
  "tea)",
  "tea OR",
  "AND tea",
  "' OR 1=1 --",
  "tea; DROP TABLE nodes",
  "tea\u0000coffee",
  "tea + green",
  "tea \\ / % _ ? :1 @x $y",
];

/** The lexical index. */
export function describeLexicalSearch(world: World): void {
  describe("lexical search", () => {
    test("finds a word in another form, script or spelling", async () => {
      const { store } = await world.fresh();
      // Each has an owner of its own, who sees nothing of the others.
      await put(
        store,
        ...FINDABLE.flatMap(({ name: userId, text }) => [
          { userId, content: "wholly unrelated" },
          { userId, content: text },
        ]),
      );

      for (const { name, text, question } of FINDABLE) {
        expect([name, await search(store, question, name)]).toEqual([name, [text]]);
      }
    });

    test("takes operators, quotes and punctuation in a question as plain words", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "green tea" }, { content: "nothing of it" });

      const answers = [];
      for (const question of NO_EXPRESSIONS) answers.push(await search(store, question));

      expect(answers).toEqual(
        NO_EXPRESSIONS.map((question) => (question.includes("tea") ? ["green tea"] : [])),
      );
    });

    test("answers any text without failing", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "green tea" });

      await fc.assert(
        fc.asyncProperty(
          fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })),
          async (question) => {
            expect((await search(store, question)).length).toBeLessThanOrEqual(1);
          },
        ),
        { numRuns: 80, seed: 17 },
      );
    });

    test("finds nothing where a question has no words", async () => {
      const { store } = await world.fresh();
      const wordless = ["", "  \n", "?!.,;", "…—«»", "🦊"];
      await put(store, { content: "green tea" }, ...wordless.map((content) => ({ content })));

      for (const question of wordless) expect(await search(store, question)).toEqual([]);
    });

    test("ignores the stop words of a question that has other words", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "what is it that you are" }, { content: "tea" });

      expect(await search(store, "what is the tea that you are having")).toEqual(["tea"]);
    });

    test("does not find a word inside another one", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "steam engine" });

      expect(await search(store, "tea")).toEqual([]);
    });

    test("does not index a run of letters too long for a word", async () => {
      const { store } = await world.fresh();
      const key = "k".repeat(41);
      await put(store, { content: `secret ${key}` }, { content: "q".repeat(40) });

      expect(await search(store, key)).toEqual([]);
      expect(await search(store, "q".repeat(40))).toEqual(["q".repeat(40)]);
    });

    test("gives positive scores, best first: rare words and short texts weigh more", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { content: "tea in the long and winding story of a journey to a far away market town" },
        { content: "tea" },
        { content: "tea with ginger" },
        { content: "coffee" },
      );

      const hits = await store.searchText("ginger tea", ANYTHING, 10);

      expect(await contentsOf(store, hits)).toEqual([
        "tea with ginger",
        "tea",
        "tea in the long and winding story of a journey to a far away market town",
      ]);
      expect(hits.every(({ score }) => score > 0)).toBe(true);
      expect(hits.map(({ score }) => score)).toEqual(
        hits.map(({ score }) => score).sort((a, b) => b - a),
      );
    });

    test("orders equal hits by key and takes the first ones", async () => {
      const { store } = await world.fresh();
      await put(store, ...Array.from({ length: 30 }, (_, n) => ({ content: `tea ${100 + n}` })));

      const hits = await store.searchText("tea", ANYTHING, 3);

      expect(await contentsOf(store, hits)).toEqual(["tea 100", "tea 101", "tea 102"]);
      expect(await store.searchText("tea", ANYTHING, 0)).toEqual([]);
    });

    test("adds the asked-for memories that match but rank lower", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { content: "tea" },
        { content: "tea and a biscuit" },
        { content: "tea and a rather longer text with cake", scope: "agent" },
        { content: "coffee" },
      );
      const hits = await store.searchText("tea biscuit", ANYTHING, 9);
      const [coffee] = await store.searchText("coffee", ANYTHING, 9);
      const others = [...hits.map(({ key }) => key), coffee?.key ?? nodeKey(0), nodeKey(999_999)];

      expect(hits).toHaveLength(3);
      expect(await store.searchText("tea biscuit", ANYTHING, 1, others)).toEqual([...hits]);
      expect(await store.searchText("tea biscuit", ANYTHING, 0, others)).toEqual([...hits]);
      expect(
        await store.searchText("tea biscuit", ANYTHING, 1, [hits[2]?.key ?? nodeKey(0)]),
      ).toEqual([hits[0], hits[2]].flatMap((hit) => hit ?? []));
      const personal = { ...ANYTHING, scopes: ["personal" as const] };
      expect(await store.searchText("tea biscuit", personal, 1, others)).toHaveLength(2);
    });

    test("says how much of the question a memory explains, by the rarity of its words", async () => {
      const { store } = await world.fresh();
      const texts = ["tea", "ginger", "milk", "sugar"].map((content) => ({
        content,
      }));
      await put(store, ...texts, { content: "tea", userId: "bob" });
      const coverages = async (question: string) =>
        (await store.searchText(question, ANYTHING, 9)).map(({ coverage }) => coverage);

      // Alone in a pack of single words, a word explains itself.
      expect(await coverages("ginger")).toEqual([1]);
      // Two words of one memory each, equally rare.
      expect(await coverages("tea ginger")).toEqual([0.5, 0.5]);
      // A word that no memory has is rarer still: ln(4.5 / 0.5) beside ln(3.5 / 1.5).
      const [alone] = await coverages("ginger nutmeg");
      expect(alone).toBeCloseTo(Math.log(7 / 3) / (Math.log(7 / 3) + Math.log(9)), 9);
      expect(await coverages("nutmeg")).toEqual([]);
      const known = async (question: string) =>
        (await store.searchText(question, ANYTHING, 9)).map((hit) => hit.known);
      expect(await known("tea ginger")).toEqual([1, 1]);
      expect(await known("ginger nutmeg")).toEqual([alone ?? 0]);
    });

    test("weighs words by their rarity among the owner's own memories", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { content: "alpha one" },
        ...Array.from({ length: 6 }, () => ({ content: "beta two" })),
        ...Array.from({ length: 6 }, () => ({ content: "gamma three" })),
      );
      const alone = await store.searchText("beta alpha", ANYTHING, 9);

      await put(
        store,
        ...Array.from({ length: 120 }, () => ({ content: "alpha four", userId: "bob" })),
      );
      const together = await store.searchText("beta alpha", ANYTHING, 9);

      expect((await contentsOf(store, alone))[0]).toBe("alpha one");
      expect(together.map(({ key }) => key)).toEqual(alone.map(({ key }) => key));
      together.forEach(({ score }, index) => {
        expect(score).toBeCloseTo(alone[index]?.score ?? Number.NaN, 6);
      });
    });

    test("never shows an owner what belongs to another", async () => {
      const { store } = await world.fresh();
      await put(store, { userId: "bob", content: "tea of bob" }, { content: "tea of ada" });

      expect(await search(store, "tea")).toEqual(["tea of ada"]);
      expect(await search(store, "bob")).toEqual([]);
      expect(await search(store, "tea", "eve")).toEqual([]);
    });
  });

  describe("the day on which something happened", () => {
    test("is found by its month, day and year", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { content: "we moved", eventTime: asInstant("2023-05-08T13:56:00.000000Z") },
        { content: "we came back", eventTime: asInstant("2024-11-30T00:00:00.000000Z") },
        { content: "we stayed" },
      );

      expect(await search(store, "May 2023")).toEqual(["we moved"]);
      expect(await search(store, "November 30")).toEqual(["we came back"]);
      expect(await search(store, "2022")).toEqual([]);
    });
  });

  describe("the neighbours of a turn", () => {
    test("lend it their words, which count less than its own", async () => {
      const { store } = await world.fresh();
      await put(store, ...turns("hello there", "where shall we eat sushi", "the harbour place"));

      expect(await search(store, "sushi")).toEqual([
        "where shall we eat sushi",
        "hello there",
        "the harbour place",
      ]);
      const [own, ...lent] = await store.searchText("sushi", ANYTHING, 10);
      expect(lent.every(({ score }) => score > 0 && score < (own?.score ?? 0))).toBe(true);
    });

    test("are the nearest two on either side", async () => {
      const { store } = await world.fresh();
      await put(store, ...turns("alpha", "bravo", "charlie", "delta", "echo", "foxtrot"));

      expect((await search(store, "alpha")).sort()).toEqual(["alpha", "bravo", "charlie"]);
      expect((await search(store, "delta")).sort()).toEqual([
        "bravo",
        "charlie",
        "delta",
        "echo",
        "foxtrot",
      ]);
    });

    test("are found again when turns arrive late between them", async () => {
      const { store } = await world.fresh();
      const [first, ...rest] = turns("alpha", "bravo", "charlie", "delta");
      const last = rest.pop();
      if (first === undefined || last === undefined) throw new Error();
      await put(store, first, last);
      expect((await search(store, "alpha")).sort()).toEqual(["alpha", "delta"]);

      await put(store, ...rest);

      expect((await search(store, "alpha")).sort()).toEqual(["alpha", "bravo", "charlie"]);
      expect((await search(store, "charlie")).sort()).toEqual([
        "alpha",
        "bravo",
        "charlie",
        "delta",
      ]);
      expect((await search(store, "delta")).sort()).toEqual(["bravo", "charlie", "delta"]);
    });

    test("are the same in whatever order the turns arrive", async () => {
      const words = ["alpha", "bravo", "charlie", "delta", "echo"];
      const inOrder = turns(...words);
      const answersOf = async (order: readonly number[]) => {
        const { store } = await world.fresh();
        for (const index of order) await put(store, inOrder[index] ?? {});
        const answers = [];
        for (const word of words) answers.push((await search(store, word)).sort());
        return answers;
      };

      const expected = await answersOf([0, 1, 2, 3, 4]);

      expect(await answersOf([4, 3, 2, 1, 0])).toEqual(expected);
      expect(await answersOf([2, 0, 4, 1, 3])).toEqual(expected);
    });

    test.each([
      { name: "another session", given: { sessionId: "t" } },
      { name: "no session", given: { sessionId: undefined } },
      { name: "another scope", given: { scope: "project" as const } },
      { name: "another owner", given: { userId: "bob" } },
      { name: "another type", given: { nodeType: "fact" as const } },
      { name: "an inactive state", given: { lifecycleState: "archived" as const } },
    ])("do not reach across to $name", async ({ given }) => {
      const { store } = await world.fresh();
      const [first, second] = turns("alpha", "bravo");
      await put(store, first ?? {}, { ...second, ...given });

      expect(await search(store, "bravo")).not.toContain("alpha");
      expect(await search(store, "alpha")).toEqual(["alpha"]);
    });

    test("lend their beginning only", async () => {
      const { store } = await world.fresh();
      const long = `opening ${"filler ".repeat(60)} closing`;
      await put(store, ...turns(long, "bravo"));

      expect(await search(store, "opening")).toEqual([long, "bravo"]);
      expect(await search(store, "closing")).toEqual([long]);
    });
  });

  describe("typed with other letters", () => {
    test("a memory that has the word itself comes first", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "Lodz in spring" }, { content: "Łódź in spring" });

      expect(await search(store, "Łódź")).toEqual(["Łódź in spring", "Lodz in spring"]);
      expect(await search(store, "Lodz")).toEqual(["Lodz in spring", "Łódź in spring"]);
    });

    test("words that differ in the text stay different words", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "das Maß" }, { content: "der Maßstab" });

      expect(await search(store, "Mass")).toEqual(["das Maß"]);
    });
  });

  describe("of a long question", () => {
    const numbered = (word: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${word}${at}`).join(" ");

    test("the rarest words rank memories, and the most frequent ones do not", async () => {
      const { store } = await world.fresh();
      const common = numbered("word", 200);
      await put(
        store,
        ...[common, `${common} too`, "word199 alone", "needle"].map((content) => ({ content })),
      );

      const found = await search(store, `${common} needle`);

      expect(found[0]).toBe("needle");
      expect(found).toHaveLength(3);
    });

    test("the first and the last words are searched for", async () => {
      const { store } = await world.fresh();
      await put(store, { content: "pasted1500" }, { content: "needle" }, { content: "opening" });

      expect((await search(store, `opening ${numbered("pasted", 3000)} needle`)).sort()).toEqual([
        "needle",
        "opening",
      ]);
    });
  });
}
