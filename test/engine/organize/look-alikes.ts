/** Pairs of texts that look alike and say different things, made from templates in several languages. */

/** A sentence with places for a name, a number and a day, and the same one denied. */
type Template = { readonly said: string; readonly denied: string };

const TEMPLATES: readonly Template[] = [
  {
    said: "{name} paid {number} euros on {day}",
    denied: "{name} did not pay {number} euros on {day}",
  },
  { said: "On {day} {name} runs {number} km", denied: "On {day} {name} runs no {number} km" },
  {
    said: "{name} hat am {day} {number} Euro gezahlt",
    denied: "{name} hat am {day} keine {number} Euro gezahlt",
  },
  { said: "{name} läuft am {day} {number} km", denied: "{name} läuft am {day} nicht {number} km" },
  {
    said: "{name} a payé {number} euros le {day}",
    denied: "{name} n'a pas payé {number} euros le {day}",
  },
  { said: "{name} pagó {number} euros el {day}", denied: "{name} no pagó {number} euros el {day}" },
  {
    said: "{name} ha pagato {number} euro il {day}",
    denied: "{name} non ha pagato {number} euro il {day}",
  },
  {
    said: "{name} betaalde {number} euro op {day}",
    denied: "{name} betaalde geen {number} euro op {day}",
  },
  {
    said: "{name} pagou {number} euros em {day}",
    denied: "{name} não pagou {number} euros em {day}",
  },
  {
    said: "{name} заплатила {number} евро {day}",
    denied: "{name} не заплатила {number} евро {day}",
  },
  {
    said: "{name}は{day}に{number}ユーロ払った",
    denied: "{name}は{day}に{number}ユーロ払わなかった",
  },
];
const NAMES = [
  ["Anna", "Hanna"],
  ["Jon", "John"],
  ["Marie", "Maria"],
  ["Meier", "Meyer"],
  ["Иван", "Ивана"],
  ["田中", "田口"],
] as const;

/** What is different between the two. */
const DIFFERENCES = ["number", "day", "denial", "name"] as const;

export type LookAlike = {
  readonly difference: (typeof DIFFERENCES)[number];
  readonly texts: readonly [string, string];
};

/** So many pairs; the same ones each time. */
export function lookAlikes(count: number): readonly LookAlike[] {
  return Array.from({ length: count }, (_, at) => {
    const { said, denied } = pick(TEMPLATES, at);
    const difference = pick(DIFFERENCES, Math.floor(at / TEMPLATES.length));
    const [name, otherName] = pick(NAMES, Math.floor(at / 44));
    const number = 10 + at;
    const day = dayOf(at);
    const filled = { name, number: `${number}`, day };
    const other = {
      name: difference === "name" ? otherName : name,
      number: difference === "number" ? `${number}0` : `${number}`,
      day: difference === "day" ? dayOf(at + 1) : day,
    };
    const second = difference === "denial" ? denied : said;
    return { difference, texts: [fill(said, filled), fill(second, other)] };
  });
}

function pick<T>(items: readonly T[], at: number): T {
  const item = items[at % items.length];
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}

function dayOf(at: number): string {
  return new Date(Date.UTC(2026, 0, 1 + (at % 360))).toISOString().slice(0, 10);
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}
