/** Pairs of texts that look alike and say different things, made from templates in several languages. */

/** A sentence with places for a name, a number and a day, and the same one denied. */
type Template = { readonly said: string; readonly denied: string };

const TEMPLATES = (
  [
    ["{name} paid {number} euros on {day}", "{name} did not pay {number} euros on {day}"],
    ["On {day} {name} runs {number} km", "On {day} {name} runs no {number} km"],
    [
      "{name} hat am {day} {number} Euro gezahlt",
      "{name} hat am {day} keine {number} Euro gezahlt",
    ],
    ["{name} läuft am {day} {number} km", "{name} läuft am {day} nicht {number} km"],
    ["{name} a payé {number} euros le {day}", "{name} n'a pas payé {number} euros le {day}"],
    ["{name} pagó {number} euros el {day}", "{name} no pagó {number} euros el {day}"],
    ["{name} ha pagato {number} euro il {day}", "{name} non ha pagato {number} euro il {day}"],
    ["{name} betaalde {number} euro op {day}", "{name} betaalde geen {number} euro op {day}"],
    ["{name} pagou {number} euros em {day}", "{name} não pagou {number} euros em {day}"],
    ["{name} заплатила {number} евро {day}", "{name} не заплатила {number} евро {day}"],
    ["{name}は{day}に{number}ユーロ払った", "{name}は{day}に{number}ユーロ払わなかった"],
  ] satisfies readonly (readonly [said: Template["said"], denied: Template["denied"]])[]
).map(([said, denied]) => ({ said, denied }));
const NAMES = [
  ["Anna", "Hanna"],
  ["Jon", "John"],
  ["Marie", "Maria"],
  ["Meier", "Meyer"],
  ["Иван", "Ивана"],
  ["田中", "田口"],
] as const;

/** Written when the rules were done, in other forms of sentence, number, date and denial. */
const LATER_TEMPLATES: readonly Template[] = [
  {
    said: "The lease of {name} ends {day}, flat {number}",
    denied: "The lease of {name} never ends {day}, flat {number}",
  },
  {
    said: "Since {day}, {name} has weighed {number} kg",
    denied: "Since {day}, {name} has hardly weighed {number} kg",
  },
  {
    said: "Room {number} is for {name} until {day}",
    denied: "Room {number} is for anyone but {name} until {day}",
  },
  {
    said: "{name}: invoice {number}, due {day}, settled",
    denied: "{name}: invoice {number}, due {day}, unsettled",
  },
  {
    said: "Ask {name} about order {number} before {day}",
    denied: "Don't ask {name} about order {number} before {day}",
  },
  {
    said: "{name} takes {number} mg with milk from {day}",
    denied: "{name} takes {number} mg without milk from {day}",
  },
  {
    said: "Ab {day} wohnt {name} in Haus {number}",
    denied: "Ab {day} wohnt {name} nirgends in Haus {number}",
  },
  {
    said: "{name} darf bis {day} auf Platz {number} stehen",
    denied: "{name} darf bis {day} auf keinem Platz {number} stehen",
  },
  {
    said: "À partir du {day}, le code de {name} est {number}",
    denied: "À partir du {day}, le code de {name} n'est plus {number}",
  },
  {
    said: "El {day} {name} tiene la mesa {number}",
    denied: "El {day} {name} ya no tiene la mesa {number}",
  },
  { said: "С {day} у {name} пропуск {number}", denied: "С {day} у {name} нет пропуска {number}" },
  { said: "{name} 于 {day} 住进 {number} 号房", denied: "{name} 于 {day} 没有住进 {number} 号房" },
];
const LATER_NAMES = [
  ["Zoë Brandt", "Zoe Brandt"],
  ["O'Neil", "O’Neil"],
  ["St. Gallen", "St Gallen"],
  ["Krakow", "Kraków"],
  ["Müller", "Mueller"],
  ["Jean-Luc", "Jean Luc"],
  ["王芳", "王方"],
] as const;

/** Sentences, names and ways to write numbers and days. */
const WORDINGS = {
  first: { templates: TEMPLATES, names: NAMES, numberOf: (at: number) => `${10 + at}`, dayOf },
  second: {
    templates: LATER_TEMPLATES,
    names: LATER_NAMES,
    numberOf: (at: number) => `${1 + (at % 9)}.${String(at).padStart(4, "0")}`,
    dayOf: longDayOf,
  },
} as const;

/** What is different between the two. */
const DIFFERENCES = ["number", "day", "denial", "name"] as const;

export type LookAlike = {
  readonly difference: (typeof DIFFERENCES)[number];
  readonly texts: readonly [string, string];
};

/** So many pairs; the same ones each time. */
export function lookAlikes(count: number, words: keyof typeof WORDINGS): readonly LookAlike[] {
  const { templates, names, numberOf, dayOf: day } = WORDINGS[words];
  return Array.from({ length: count }, (_, at) => {
    const { said, denied } = pick<Template>(templates, at);
    const difference = pick(DIFFERENCES, Math.floor(at / templates.length));
    const [name, otherName] = pick<readonly [string, string]>(
      names,
      Math.floor(at / (templates.length * DIFFERENCES.length)),
    );
    const number = numberOf(at);
    const filled = { name, number, day: day(at) };
    const other = {
      name: difference === "name" ? otherName : name,
      number: difference === "number" ? `${number}0` : number,
      day: difference === "day" ? day(at + 1) : day(at),
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

function longDayOf(at: number): string {
  const day = new Date(Date.UTC(2027, 0, 1 + (at % 700)));
  return day.toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}
