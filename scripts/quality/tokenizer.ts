/**
 * Compares our tokenizer of the multilingual model with that of `@huggingface/transformers`: `bun scripts/quality/tokenizer.ts`.
 * It makes 6,000 texts of 32 languages from the locale data of the runtime (Unicode CLDR: names of languages, countries and
 * currencies, dates, spans of time), plain, mixed and disturbed. Ends with 1 if any ids differ.
 *   --write FILE     writes the texts, a JSON string a line, for another reference
 *   --compare FILE   compares with the ids in FILE, a JSON list a line in the same order
 *   --sample         writes every fiftieth text with its ids, those of the reference, for the test
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadUnigram } from "../../src/adapters/embedding/unigram.ts";
import { createRandom } from "../bench/sentences.ts";

const LANGUAGES =
  "am ar bg bn cs da de el en es fa fi fr he hi hu id it ja ka ko nl pl pt ru sv ta th tr uk vi zh";
const TEXTS = 6000;
const REGIONS =
  "AR AT BR CA CH CN DE EG ES FI FR GB GE GR IN IR IT JP KE KR MA NO PL RU TH UA US ZA";
const CURRENCIES = "EUR USD JPY CHF INR RUB CNY SEK";
const EMOJI = ["😀", "👩‍👩‍👧", "🇨🇭", "👍🏽", "❤️", "🦣", "🫨"];
const SAMPLE = "test/adapters/embedding/token-ids.json";
const ROOT = join(import.meta.dir, "../..");
const PIECES = "src/adapters/embedding/models/intfloat/multilingual-e5-small/pieces.bin";

const random = createRandom(7);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const languages = LANGUAGES.split(" ");

/** A phrase in a language, from the locale data. */
function phrase(language: string): string {
  const moment = new Date(random() * 4e12);
  const region = new Intl.DisplayNames(language, { type: "region" }).of(pick(REGIONS.split(" ")));
  const makers: readonly (() => string | undefined)[] = [
    () => region,
    () => new Intl.DisplayNames(language, { type: "language" }).of(pick(languages)),
    () => new Intl.DisplayNames(language, { type: "currency" }).of(pick(CURRENCIES.split(" "))),
    () => new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "UTC" }).format(moment),
    () =>
      new Intl.RelativeTimeFormat(language).format(
        Math.floor(random() * 40) - 20,
        pick(["day", "week", "month", "year", "hour"]),
      ),
    () =>
      new Intl.ListFormat(language).format(
        Array.from(
          { length: 3 },
          () =>
            new Intl.DisplayNames(language, { type: "region" }).of(pick(REGIONS.split(" "))) ?? "",
        ),
      ),
    () =>
      new Intl.NumberFormat(language, {
        style: "currency",
        currency: pick(CURRENCIES.split(" ")),
      }).format(random() * 1e6),
  ];
  return pick(makers)() ?? "";
}

const sentence = (language: string): string =>
  Array.from({ length: 1 + Math.floor(random() * 8) }, () => phrase(language)).join(
    pick([" ", ", ", ". ", ": ", " – "]),
  );

/** Ways to disturb a text; the first of them leaves it alone. */
const DISTURB: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text,
  (text) => text.normalize("NFD"),
  (text) => text.toUpperCase(),
  (text) => text.replaceAll(" ", ""),
  (text) => text.replaceAll(" ", pick(["\u00a0", "\u200b", "\n\n", "\t ", "   ", "\u3000"])),
  (text) => `${pick(EMOJI)} ${text}${pick(EMOJI)}${pick(EMOJI)}`,
  (text) => `\u202b${text}\u202c ${sentence(pick(languages))}`,
  (text) => `${text} ${sentence(pick(languages))} ${sentence(pick(languages))}`,
  (text) =>
    text.replace(/./gu, (one) =>
      random() < 0.1 ? String.fromCodePoint(0x20 + Math.floor(random() * 0x2ff0)) : one,
    ),
  (text) => [...text].reverse().join(""),
  (text) => ` ${text} `,
  (text) => `ﬁ Ⅷ ½ ＡＢＣ ｶﾞ ㎏ ${text}`,
  (text) => `${text}\u0007\u008f\ufffd\ufeff${text}`,
  (text) => text.repeat(1 + Math.floor(random() * 20)),
];

const texts = [
  "",
  " ",
  "\n",
  "\ufeff",
  "漢字".repeat(5000),
  "x".repeat(3000),
  "\ud800 lone \udc00",
];
while (texts.length < TEXTS) {
  const text = pick(DISTURB)(sentence(languages[texts.length % languages.length] ?? "en"));
  // Names of special tokens are ids of their own for the library, and plain text for us.
  if (!/<(?:s|\/s|pad|unk|mask)>/.test(text)) texts.push(text);
}

/** The pieces of a vocabulary with their scores, by id. */
function readVocabulary(file: Uint8Array): readonly (readonly [string, number])[] {
  const count = new DataView(file.buffer, file.byteOffset).getUint32(0, true);
  const scores = new Float32Array(file.slice(4, 4 + 4 * count).buffer);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const vocab: [string, number][] = [];
  for (let id = 0, at = 4 + 5 * count; id < count; id += 1) {
    const length = file[4 + 4 * count + id] ?? 0;
    const score = Math.round((scores[id] ?? 0) * 1e5) / 1e5;
    vocab.push([decoder.decode(file.subarray(at, at + length)), score]);
    at += length;
  }
  return vocab;
}

/** A vocabulary as the library reads it. */
function tokenizerJson(vocab: readonly (readonly [string, number])[]): unknown {
  const last = vocab.length - 1;
  const special = [0, 1, 2, 3, last].map((id) => ({
    id,
    content: vocab[id]?.[0],
    single_word: false,
    lstrip: id === last,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const metaspace = {
    type: "Metaspace",
    replacement: "\u2581",
    prepend_scheme: "always",
    split: true,
  };
  const replace = (Regex: string, content: string) => ({
    type: "Replace",
    pattern: { Regex },
    content,
  });
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  return {
    version: "1.0",
    added_tokens: special,
    normalizer: {
      type: "Sequence",
      normalizers: [
        replace("[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]", ""),
        replace(
          "[\t\n\f\r\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2581\u3000\ufeff\ufffd]",
          " ",
        ),
        { type: "NFKC" },
        replace(" {2,}", " "),
      ],
    },
    pre_tokenizer: metaspace,
    post_processor: {
      type: "TemplateProcessing",
      single: [token("<s>"), { Sequence: { id: "A", type_id: 0 } }, token("</s>")],
      pair: [],
      special_tokens: {
        "<s>": { id: "<s>", ids: [0], tokens: ["<s>"] },
        "</s>": { id: "</s>", ids: [2], tokens: ["</s>"] },
      },
    },
    decoder: metaspace,
    model: { type: "Unigram", unk_id: 3, vocab, byte_fallback: false },
  };
}

async function referenceIds(): Promise<readonly (readonly number[])[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-tokenizer-"));
  try {
    mkdirSync(join(folder, "model"));
    writeFileSync(join(folder, "model/tokenizer.json"), JSON.stringify(tokenizerJson(vocabulary)));
    const config = {
      tokenizer_class: "XLMRobertaTokenizer",
      bos_token: "<s>",
      eos_token: "</s>",
      unk_token: "<unk>",
      pad_token: "<pad>",
      mask_token: "<mask>",
    };
    writeFileSync(join(folder, "model/tokenizer_config.json"), JSON.stringify(config));
    const { AutoTokenizer, env } = await import("@huggingface/transformers");
    env.localModelPath = folder;
    env.allowRemoteModels = false;
    const tokenizer = await AutoTokenizer.from_pretrained("model");
    return texts.map((text) => tokenizer.encode(text));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: { write: { type: "string" }, compare: { type: "string" }, sample: { type: "boolean" } },
});
const file = new Uint8Array(readFileSync(join(ROOT, PIECES)));
const vocabulary = readVocabulary(file);
/** Splits of equal likelihood are equally right; references differ in which they take. */
const likelihood = (ids: readonly number[]): number =>
  ids.reduce((sum, id) => sum + (vocabulary[id]?.[1] ?? 0), 0);
if (values.write !== undefined) {
  writeFileSync(values.write, texts.map((text) => `${JSON.stringify(text)}\n`).join(""));
}
const started = performance.now();
const { tokenIds } = loadUnigram(file);
const loadedMs = performance.now() - started;
const expected =
  values.compare === undefined
    ? await referenceIds()
    : readFileSync(values.compare, "utf8")
        .trim()
        .split("\n")
        .map((line): number[] => JSON.parse(line));
let differing = 0;
let ties = 0;
for (const [index, text] of texts.entries()) {
  const ids = tokenIds(text, Number.MAX_SAFE_INTEGER);
  if (ids.join() === expected[index]?.join()) continue;
  const other = expected[index] ?? [];
  if (ids.length === other.length && Math.abs(likelihood(ids) - likelihood(other)) < 1e-9) {
    ties += 1;
    continue;
  }
  differing += 1;
  if (differing > 5) continue;
  console.log(
    `differs: ${JSON.stringify(text.slice(0, 200))}\n  ours ${ids.slice(0, 40)}\n  reference ${expected[index]?.slice(0, 40)}`,
  );
}
console.log(
  `${texts.length} texts of ${languages.length} languages, ${expected.reduce((sum, { length }) => sum + length, 0)} tokens; ${differing} differ, ${ties} are split in another way that is as likely; loaded in ${loadedMs.toFixed(0)} ms`,
);
if (values.sample === true) {
  const lines = texts.flatMap((text, index) =>
    index % 50 === 0 && text.length < 1000 ? [`  ${JSON.stringify([text, expected[index]])}`] : [],
  );
  writeFileSync(join(ROOT, SAMPLE), `[\n${lines.join(",\n")}\n]\n`);
}
if (differing > 0) process.exitCode = 1;
