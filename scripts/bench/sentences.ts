/** Made-up conversation turns: the parts of a few sentences in every combination, so that no text repeats soon. */

const NAMES = "Anna Tom Mira Jonas Priya Luis Grace Omar Nina Felix Aiko Daniel".split(" ");
const OPENINGS = [
  "Hey, I finally told you about it",
  "You won't believe what happened",
  "I've been meaning to say this",
  "Guess what",
  "It was such a long week",
  "Thanks for asking",
  "Oh, that reminds me of something",
  "By the way",
];
const ACTIONS = [
  "signed up for a pottery class",
  "moved into a smaller apartment",
  "adopted a nervous grey cat",
  "started training for a marathon",
  "painted the kitchen in a pale green",
  "found an old violin in the attic",
  "missed the last train home",
  "cooked a huge pot of lentil soup",
  "changed jobs and joined a clinic",
  "planted tomatoes behind the garage",
  "lost a wallet with all the cards",
  "booked a cabin near the lake",
  "gave a talk about solar panels",
  "finished the second draft of the novel",
  "repaired the bicycle alone",
  "learned to bake sourdough bread",
];
const PLACES = [
  "in Lisbon",
  "at the community centre",
  "near the river",
  "during the summer camp",
  "on the way to the airport",
  "at my sister's place",
  "in the mountains",
  "downtown after work",
  "at the support group",
  "in the old library",
];
const TIMES = [
  "last Tuesday",
  "two weeks ago",
  "on my birthday",
  "right before Christmas",
  "in early March",
  "the day after the storm",
  "over the long weekend",
  "yesterday evening",
];
const ENDINGS = [
  "and it made everyone laugh",
  "which was harder than it looked",
  "so we are celebrating on Friday",
  "but the weather ruined the plan",
  "and the neighbours helped a lot",
  "because the doctor had suggested it",
  "and I took a hundred photos",
  "even though it cost 240 euros",
  "and now I want to do it every year",
  "so please remind me of the receipt",
];

const QUESTION_FORMS: readonly ((name: string, action: string, place: string) => string)[] = [
  (name, action) => `When did ${name} say that somebody ${action}?`,
  (name, action, place) => `What did ${name} do ${place}, was it that ${name} ${action}?`,
  (name, action) => `Who ${action} and told ${name} about it?`,
  (_name, action, place) => `How did it go ${place} when somebody ${action}?`,
];

/** A source of numbers in [0, 1) that is the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the entries. */
export function pick<T>(random: () => number, from: readonly [T, ...T[]] | readonly T[]): T {
  const chosen = from[Math.floor(random() * from.length)];
  if (chosen === undefined) throw new RangeError("there is nothing to pick from");
  return chosen;
}

/** A turn of 15 to 30 words; the number at its end makes it unlike every other. */
export function sentence(random: () => number, serial: number): string {
  const name = pick(random, NAMES);
  const parts = [ACTIONS, PLACES, TIMES, ENDINGS].map((list) => pick(random, list));
  return `${pick(random, OPENINGS)}, ${name} ${parts.join(" ")} (${serial}).`;
}

/** `count` turns without repeats. @param from number of the first */
export function sentences(random: () => number, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => sentence(random, from + index));
}

/** A question of about ten words about such turns. */
export function question(random: () => number): string {
  return pick(random, QUESTION_FORMS)(
    pick(random, NAMES),
    pick(random, ACTIONS),
    pick(random, PLACES),
  );
}
