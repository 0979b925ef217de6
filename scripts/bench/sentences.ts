/**
 * Made-up conversation turns: the words of a small list in many combinations. A content word is in about one text of a
 * hundred, a name in one of twenty, as in real conversations; every text holds a number that no other has.
 */

const words = (list: string): readonly string[] => list.trim().split(/\s+/);

const NAMES =
  words(`Anna Tom Mira Jonas Priya Luis Grace Omar Nina Felix Aiko Daniel Ruth Ivan Carmen Noah Leila Hugo
  Petra Sam`);

const THINGS =
  words(`pottery violin bicycle kitchen garden novel marathon puppy kitten soup bread guitar camera painting
  lantern blanket receipt passport wallet ticket letter podcast recipe canoe tent ladder sofa mirror curtain notebook
  laptop charger printer speech contract invoice mortgage insurance vaccine prescription allergy peanut cinnamon pumpkin
  dumpling noodle coffee tea cake pancake sandwich salad pasta curry mosaic sculpture sketch poem song choir trumpet
  drum piano flute opera ballet tango yoga karate tennis chess puzzle quiz lottery museum aquarium planetarium castle
  harbour lighthouse island volcano glacier desert canyon waterfall meadow orchard vineyard greenhouse beehive tractor
  windmill solar panel battery engine scooter helmet parachute telescope microscope thermometer barometer compass atlas
  diary calendar alarm doorbell chimney basement attic balcony staircase elevator carpet lamp candle vase teapot kettle
  toaster freezer blender apron scarf mitten jacket sweater necklace bracelet earring perfume shampoo lipstick dentist
  surgeon nurse plumber carpenter tailor librarian journalist lawyer banker astronaut firefighter referee landlord
  neighbour cousin nephew grandmother stepbrother twin roommate classmate mentor apprentice volunteer scholarship diploma
  seminar thesis laboratory experiment satellite database spreadsheet password newsletter webinar startup warehouse
  bakery pharmacy laundry playground stadium cemetery cathedral monastery embassy courthouse`);

const VERBS =
  words(`borrowed repaired painted sold lost found planted baked cooked photographed carried returned wrapped
  ordered cancelled designed assembled cleaned polished hid described recommended dropped broke measured decorated
  rented inherited donated auctioned forgot sketched recorded printed translated mailed signed framed restored buried
  washed folded knitted sharpened launched tested postponed celebrated rehearsed compared refused promised`);

const QUALITIES =
  words(`nervous grey wooden ancient tiny enormous broken shiny cheap expensive handmade secondhand purple
  turquoise crooked fragile noisy silent sour spicy frozen dusty elegant clumsy curious stubborn generous foldable striped
  velvet copper golden plastic glass woollen rusty spare temporary annual surprising`);

const PLACES =
  words(`Lisbon Oslo Kyoto Nairobi Toronto Quito Hanoi Dublin Prague Cairo Lima Seoul Athens Havana Denver
  Bergen Porto Tbilisi Zagreb Riga school office market station airport hospital gym theatre garage backyard rooftop
  beach forest lake mountain valley village clinic hotel campsite`);

const TIMES =
  words(`Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July
  August September October November December yesterday spring summer autumn winter Easter Christmas noon midnight`);

type Part = (list: readonly string[]) => string;

const TURNS: readonly ((of: Part) => string)[] = [
  (of) =>
    `Hey ${of(NAMES)}, I finally ${of(VERBS)} the ${of(QUALITIES)} ${of(THINGS)} in ${of(PLACES)}, it was such a long ${of(TIMES)}`,
  (of) =>
    `You won't believe it, ${of(NAMES)} ${of(VERBS)} a ${of(THINGS)} and a ${of(THINGS)} before ${of(TIMES)} and everybody laughed`,
  (of) =>
    `Thanks for asking! My ${of(THINGS)} is fine now, we ${of(VERBS)} it near the ${of(PLACES)} last ${of(TIMES)}`,
  (of) =>
    `That sounds ${of(QUALITIES)}. Did you know that the ${of(THINGS)} of ${of(NAMES)} was ${of(VERBS)} by a ${of(THINGS)}?`,
  (of) =>
    `I have been meaning to say that I ${of(VERBS)} your ${of(QUALITIES)} ${of(THINGS)}, sorry, I will bring it on ${of(TIMES)}`,
  (of) =>
    `We went to ${of(PLACES)} with ${of(NAMES)} and saw a ${of(QUALITIES)} ${of(THINGS)} which somebody had ${of(VERBS)}`,
  (of) =>
    `So glad to hear it! ${of(NAMES)} also ${of(VERBS)} one, but the ${of(THINGS)} cost too much and the ${of(THINGS)} was ${of(QUALITIES)}`,
  (of) =>
    `By the way, please remind me of the ${of(THINGS)} on ${of(TIMES)}, ${of(NAMES)} needs it for the ${of(THINGS)} in ${of(PLACES)}`,
];

const QUESTIONS: readonly ((of: Part) => string)[] = [
  (of) => `When did ${of(NAMES)} say that the ${of(THINGS)} was ${of(VERBS)} in ${of(PLACES)}?`,
  (of) => `What did ${of(NAMES)} do with the ${of(QUALITIES)} ${of(THINGS)} last ${of(TIMES)}?`,
  (of) => `Who ${of(VERBS)} the ${of(THINGS)} and told ${of(NAMES)} about the ${of(THINGS)}?`,
  (of) =>
    `How did the trip to ${of(PLACES)} go when somebody ${of(VERBS)} a ${of(QUALITIES)} ${of(THINGS)}?`,
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

/** A turn of about 18 words. @param serial the number that tells it from all others */
export function sentence(random: () => number, serial: number): string {
  return `${compose(random, TURNS)} (${serial}).`;
}

/** `count` turns without repeats. @param from number of the first */
export function sentences(random: () => number, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => sentence(random, from + index));
}

/** A question of about ten words about such turns. */
export function question(random: () => number): string {
  return compose(random, QUESTIONS);
}

function compose(random: () => number, forms: readonly ((of: Part) => string)[]): string {
  return pick(random, forms)((list) => pick(random, list));
}

function pick<T>(random: () => number, from: readonly T[]): T {
  const chosen = from[Math.floor(random() * from.length)];
  if (chosen === undefined) throw new RangeError("there is nothing to pick from");
  return chosen;
}
