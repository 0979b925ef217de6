/**
 * What several owners say in a year, made from a fixed seed: facts about people, changes of mind, repeats, facts that end, pairs that
 * look alike, and talk. Each memory says what it is about, so that a measurement knows what is true when.
 */
import type { StoreInput } from "../../src/engine/write/api.ts";
import { type LookAlike, lookAlikes } from "../../test/engine/organize/look-alikes.ts";
import { createRandom, sentence } from "../bench/sentences.ts";
import DATA from "./data/year-attributes.json";

/**
 * How a new fact is said: `named` says what was given up and what took its place, `worded` has another word of change, `number`
 * repeats the sentence with another number, `restated` with another word.
 */
export type Form = "named" | "worded" | "number" | "restated";

/** What can be said of a person, with places for a name, a value and the value before it. */
export type Attribute = {
  readonly said: string;
  readonly question: string;
  readonly changes: readonly (readonly [Form, string])[];
  /** Empty: numbers. */
  readonly values: readonly string[];
};

// SAFETY: written as such.
export const ATTRIBUTES = DATA as unknown as Readonly<
  Record<keyof typeof DATA, readonly Attribute[]>
>;

const list = (text: string): readonly string[] => text.split(/\s+/);

/** Something that can be asked, with what was true of it, the latest last. */
export type Topic = {
  readonly owner: string;
  readonly question: string;
  /** The texts that say a value, by value. */
  readonly texts: string[][];
  /** How each new value was said first; empty: it never changed. */
  readonly forms: Form[];
};

/** A memory, and the topic that it is about. */
export type Said = { readonly input: StoreInput; readonly topic: Topic | undefined };

const PEOPLE = list(
  `Amelia Bruno Clara Dorian Elsa Fabian Greta Hector Ingrid Jasper Katja Lorenz Marlene Nils Ottilie Pascal Quentin Rosa
  Stefan Thea Ulrich Valerie Wanda Xaver Yara`,
);
export const OWNERS = list("ada ben cleo dan eve finn");

/** Shares of what is said; the rest is talk. */
const SHARES = { repeat: 0.12, change: 0.1, twice: 0.06, lookAlike: 0.08, passing: 0.08 } as const;
/** Values of one topic, at most. */
const MAX_VALUES = 6;
const START = Date.parse("2026-01-05T08:00:00Z");
const WEEK_MS = 7 * 86_400_000;

export type Year = {
  readonly topics: readonly Topic[];
  readonly pairs: readonly LookAlike[];
  /** The moment at the end of a week. @param week from 0 */
  readonly endOf: (week: number) => Date;
  /** What is said in a week, in its order. Must be called week after week. */
  readonly say: (week: number) => Generator<{ readonly at: Date; readonly said: Said }>;
};

/** @param memories how many, at least as many as there are topics */
export function createYear(
  memories: number,
  weeks: number,
  attributes: readonly Attribute[],
): Year {
  const random = createRandom(17);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new RangeError("there is nothing to pick from");
    return item;
  };
  // A smaller year is about fewer people, so that as much changes for each.
  const people = PEOPLE.slice(0, Math.max(3, Math.round((PEOPLE.length * memories) / 20_000)));
  const kinds = new Map<Topic, { readonly who: string; readonly attribute: Attribute }>();
  for (const owner of OWNERS) {
    for (const who of people) {
      for (const attribute of attributes) {
        const question = attribute.question.replaceAll("{who}", who);
        kinds.set({ owner, question, texts: [], forms: [] }, { who, attribute });
      }
    }
  }
  const topics = [...kinds.keys()];
  const values = new Map<Topic, string[]>();
  const pairs = lookAlikes(Math.ceil((memories * SHARES.lookAlike) / 2), "first");

  const newValue = (topic: Topic, { values: all }: Attribute): string => {
    const had = values.get(topic) ?? [];
    const unused = all.filter((value) => !had.includes(value));
    if (all.length > 0 && unused.length === 0)
      throw new RangeError("a topic has run out of values");
    const value =
      all.length === 0 ? `${400 + had.length * 37 + Math.floor(random() * 30)}` : pick(unused);
    values.set(topic, [...had, value]);
    return value;
  };
  const state = (topic: Topic): string => {
    const { who, attribute } = found(kinds.get(topic));
    const old = values.get(topic)?.at(-1);
    const value = newValue(topic, attribute);
    const plain = filled(attribute.said, { who, value });
    if (old === undefined) {
      topic.texts.push([plain]);
      return plain;
    }
    const [form, template] = pick(attribute.changes);
    const text = filled(template, { who, value, old });
    topic.forms.push(form);
    topic.texts.push([text, plain]);
    return text;
  };
  return {
    topics,
    pairs,
    endOf: (week) => new Date(START + (week + 1) * WEEK_MS),
    say: function* (week) {
      const of = { total: memories, weeks, topics, pairs, pick, random, state };
      const said = [...weekOf(week, of)];
      for (const [index, one] of said.entries()) {
        yield {
          at: new Date(START + (week + (index + 1) / (said.length + 1)) * WEEK_MS),
          said: one,
        };
      }
    },
  };
}

type Making = {
  readonly total: number;
  readonly weeks: number;
  readonly topics: readonly Topic[];
  readonly pairs: readonly LookAlike[];
  readonly pick: <T>(items: readonly T[]) => T;
  readonly random: () => number;
  readonly state: (topic: Topic) => string;
};

/** A week's share of everything. In the first one every topic is stated, on top. */
function* weekOf(week: number, making: Making): Generator<Said> {
  const { total, weeks, topics, state } = making;
  if (week === 0) for (const topic of topics) yield factOf(topic, state(topic));
  let serial = Math.floor((total * week) / weeks);
  const to = Math.floor((total * (week + 1)) / weeks);
  while (serial < to) {
    const said = oneOf(serial, week, making);
    yield* said;
    serial += said.length;
  }
}

/** One memory, or two that belong together. */
function oneOf(serial: number, week: number, making: Making): readonly Said[] {
  const { topics, pick, random, state } = making;
  const { repeat, change, twice, lookAlike, passing } = SHARES;
  const chance = random();
  if (chance < repeat) {
    const topic = pick(topics);
    return [factOf(topic, pick(topic.texts.at(-1) ?? []))];
  }
  if (chance < repeat + change) {
    // Some minds change again.
    const topic = pick(topics.filter(({ texts }) => texts.length < MAX_VALUES));
    return [factOf(topic, state(topic))];
  }
  const userId = pick(OWNERS);
  if (chance < repeat + change + twice) return toldTwice(userId, sentence(random, serial), serial);
  if (chance < repeat + change + twice + lookAlike) return alike(userId, making.pairs, serial);
  if (chance < repeat + change + twice + lookAlike + passing) {
    const content = `Voucher ${serial} is worth ${10 + (serial % 80)} euros until further notice.`;
    return [{ input: { content, userId, nodeType: "fact", ttlDays: 21 }, topic: undefined }];
  }
  const content = sentence(random, serial);
  return [{ input: { content, userId, sessionId: `week-${week}` }, topic: undefined }];
}

function factOf(topic: Topic, content: string): Said {
  return { input: { content, userId: topic.owner, nodeType: "fact" }, topic };
}

/** By a client that was not sure to have stored it. */
function toldTwice(userId: string, content: string, serial: number): readonly Said[] {
  const when = dayOf(serial);
  const said = { input: { content, userId, validFrom: when, eventTime: when }, topic: undefined };
  return [said, said];
}

/** Nothing but the text is different, so that only the text keeps them apart. */
function alike(userId: string, pairs: readonly LookAlike[], serial: number): readonly Said[] {
  const when = { validFrom: "2026-01-01T08:00:00Z", eventTime: "2026-01-01T08:00:00Z" };
  return (pairs[serial % pairs.length]?.texts ?? []).map((content) => ({
    input: { content, userId, nodeType: "fact", ...when },
    topic: undefined,
  }));
}

function dayOf(serial: number): string {
  return new Date(START - (serial % 300) * 86_400_000).toISOString();
}

function filled(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? "");
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError("not a topic of this year");
  return value;
}
