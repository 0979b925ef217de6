/**
 * What can be said of a person in a simulated year, and how somebody says that it has changed: sentences with places for a name, a
 * value and the value before it.
 */

/**
 * How a new fact is said: `named` says what was given up and what took its place, `worded` has another word of change, `number`
 * repeats the sentence with another number, `restated` with another word.
 */
export type Form = "named" | "worded" | "number" | "restated";

export type Attribute = {
  readonly said: string;
  readonly question: string;
  readonly changes: readonly (readonly [Form, string])[];
  /** Empty: numbers. */
  readonly values: readonly string[];
};

export const list = (text: string): readonly string[] => text.split(/\s+/);
const CITIES = list(
  "Bonn Kiel Leeds Porto Lyon Turin Graz Basel Ghent Malmo Oslo Riga Split Cork Bath York Lille Nantes Jena Ulm",
);
const FIRMS = list(
  "Altova Brightwell Corvex Dunmore Elvanto Fernhill Glenrock Halberd Inkwell Juniper Kestrel Lumen Marlowe Northgate",
);
const HOBBIES = list(
  "chess tennis pottery archery sailing knitting fencing climbing rowing juggling origami calligraphy badminton yoga",
);
const TOOLS = list("Notion Obsidian Evernote OneNote Joplin Bear Logseq Craft Roam Tana Anytype");
const DRINKS = list("espresso cocoa mate rooibos chai cider kefir lemonade matcha oolong");

/** The words of these were read while rules were made. */
const FIRST: readonly Attribute[] = [
  {
    said: "{who} lives in {value}.",
    question: "Where does {who} live?",
    changes: [
      ["named", "{who} moved from {old} to {value}."],
      ["worded", "{who} lives in {value} now."],
      ["restated", "{who} lives in {value}."],
    ],
    values: CITIES,
  },
  {
    said: "{who} works for {value}.",
    question: "Who does {who} work for?",
    changes: [
      ["named", "{who} switched from {old} to {value} and works there."],
      ["worded", "{who} no longer works for {old} but for {value}."],
    ],
    values: FIRMS,
  },
  {
    said: "The hobby of {who} is {value}.",
    question: "What is the hobby of {who}?",
    changes: [
      ["named", "{who} replaced {old} with {value} as a hobby."],
      ["worded", "The hobby of {who} is {value} instead of {old}."],
    ],
    values: HOBBIES,
  },
  {
    said: "{who} keeps notes in {value}.",
    question: "Where does {who} keep notes?",
    changes: [
      ["named", "{who} migrated from {old} to {value} for notes."],
      ["worded", "{who} keeps notes in {value} these days."],
    ],
    values: TOOLS,
  },
  {
    said: "{who} drinks {value} for breakfast.",
    question: "What does {who} drink for breakfast?",
    changes: [
      ["named", "{who} switched from {old} to {value} for breakfast."],
      ["worded", "{who} stopped drinking {old} and drinks {value} for breakfast."],
    ],
    values: DRINKS,
  },
  {
    said: "{who} pays {value} euros of rent a month.",
    question: "How much rent does {who} pay?",
    changes: [
      ["number", "{who} pays {value} euros of rent a month."],
      ["worded", "The rent of {who} was raised to {value} euros a month."],
    ],
    values: [],
  },
];

const CARS = list("Fiat Volvo Skoda Mazda Renault Peugeot Honda Dacia Subaru Kia Seat Opel");
const DOCTORS = list(
  "Lambert Okoye Fischer Nowak Santos Larsen Rossi Meyer Patel Novak Lind Costa",
);
const PHONES = list("Pixel Nokia Xiaomi Motorola Fairphone Huawei Oppo Honor Samsung Realme Sony");
const SUBJECTS = list(
  "derecho medicina historia biología música arte filosofía economía química geografía",
);
const VEHICLES = list("metro bicicleta tren coche moto autobús patinete tranvía taxi furgoneta");

/** These were written after the rules; words that the rules lacked were added to them afterwards. */
const SECOND: readonly Attribute[] = [
  {
    said: "{who} drives a {value}.",
    question: "Which car does {who} drive?",
    changes: [
      ["named", "{who} traded the {old} in for a {value}."],
      ["worded", "{who} drives a {value} these days."],
    ],
    values: CARS,
  },
  {
    said: "The doctor of {who} is Dr. {value}.",
    question: "Who is the doctor of {who}?",
    changes: [
      ["worded", "{who} has a new doctor, Dr. {value}."],
      ["restated", "The doctor of {who} is Dr. {value}."],
    ],
    values: DOCTORS,
  },
  {
    said: "{who} uses a {value} phone.",
    question: "What phone does {who} use?",
    changes: [
      ["named", "{who} went from a {old} phone to a {value}."],
      ["worded", "{who} got rid of the {old} and uses a {value} phone."],
    ],
    values: PHONES,
  },
  {
    said: "{who} wohnt in {value}.",
    question: "Wo wohnt {who}?",
    changes: [
      ["named", "{who} ist von {old} nach {value} umgezogen."],
      ["worded", "{who} wohnt seit Kurzem in {value}."],
      ["restated", "{who} wohnt in {value}."],
    ],
    values: CITIES,
  },
  {
    said: "{who} arbeitet bei {value}.",
    question: "Bei wem arbeitet {who}?",
    changes: [
      ["named", "{who} ist von {old} zu {value} gewechselt."],
      ["worded", "{who} hat bei {old} gekündigt und arbeitet jetzt bei {value}."],
    ],
    values: FIRMS,
  },
  {
    said: "Der Strom von {who} kostet {value} Euro im Jahr.",
    question: "Was kostet der Strom von {who}?",
    changes: [
      ["number", "Der Strom von {who} kostet {value} Euro im Jahr."],
      ["worded", "{who} zahlt für Strom inzwischen {value} Euro im Jahr."],
    ],
    values: [],
  },
  {
    said: "{who} estudia {value}.",
    question: "¿Qué estudia {who}?",
    changes: [
      ["named", "{who} cambió {old} por {value}."],
      ["worded", "{who} ha dejado {old} y ahora estudia {value}."],
    ],
    values: SUBJECTS,
  },
  {
    said: "{who} va al trabajo en {value}.",
    question: "¿Cómo va {who} al trabajo?",
    changes: [
      ["worded", "{who} ya no va al trabajo en {old} sino en {value}."],
      ["restated", "{who} va al trabajo en {value}."],
    ],
    values: VEHICLES,
  },
  {
    said: "El gimnasio de {who} cuesta {value} euros al año.",
    question: "¿Cuánto cuesta el gimnasio de {who}?",
    changes: [
      ["number", "El gimnasio de {who} cuesta {value} euros al año."],
      ["worded", "El gimnasio de {who} subió a {value} euros al año."],
    ],
    values: [],
  },
];

const INSTRUMENTS = list("piano cello flute harp trumpet violin clarinet oboe banjo tuba");
const LIFTS = list("Bus Zug Fahrrad Auto Roller Motorrad Taxi Tretroller Schiff Skateboard");
const MEALS = list("Pizza Lasagne Gulasch Sushi Curry Risotto Paella Ramen Falafel Knödel");
const TEACHERS = list("Marta Nuria Teresa Rosario Beatriz Carmen Pilar Lucía Elena Silvia");

/** These were written last, and no rule was changed after they were first measured. */
const THIRD: readonly Attribute[] = [
  {
    said: "{who} plays the {value}.",
    question: "Which instrument does {who} play?",
    changes: [
      ["named", "{who} gave up the {old} for the {value}."],
      ["worded", "{who} plays the {value} instead of the {old}."],
    ],
    values: INSTRUMENTS,
  },
  {
    said: "The insurance of {who} is with {value}.",
    question: "With whom is {who} insured?",
    changes: [
      ["worded", "{who} cancelled with {old} and is insured with {value}."],
      ["restated", "The insurance of {who} is with {value}."],
    ],
    values: FIRMS,
  },
  {
    said: "{who} fährt mit dem {value} zur Arbeit.",
    question: "Womit fährt {who} zur Arbeit?",
    changes: [
      ["named", "{who} fährt nicht mehr mit dem {old}, sondern mit dem {value} zur Arbeit."],
      ["restated", "{who} fährt mit dem {value} zur Arbeit."],
    ],
    values: LIFTS,
  },
  {
    said: "Das Lieblingsessen von {who} ist {value}.",
    question: "Was ist das Lieblingsessen von {who}?",
    changes: [
      ["worded", "{who} isst statt {old} am liebsten {value}."],
      ["worded", "Das Lieblingsessen von {who} ist inzwischen {value}."],
    ],
    values: MEALS,
  },
  {
    said: "{who} vive en {value}.",
    question: "¿Dónde vive {who}?",
    changes: [
      ["named", "{who} se mudó de {old} a {value}."],
      ["worded", "{who} vive ahora en {value}."],
    ],
    values: CITIES,
  },
  {
    said: "La profesora de {who} es {value}.",
    question: "¿Quién es la profesora de {who}?",
    changes: [
      ["worded", "{who} tiene una nueva profesora, {value}."],
      ["restated", "La profesora de {who} es {value}."],
    ],
    values: TEACHERS,
  },
];

const TEAMS = list("Rovers Wanderers Harriers Falcons Otters Badgers Comets Pilgrims Saints Lions");
const DIETS = list(
  "vegan vegetarian paleo keto macrobiotic kosher halal pescatarian gluten-free raw",
);
const BANKS = list(
  "Sparbank Volksbank Nordbank Alpenbank Stadtbank Seebank Rheinbank Postbank Turmbank",
);
const KINDS = list("Rosen Tulpen Dahlien Nelken Lilien Astern Veilchen Malven Narzissen");
const CHANNELS = list(
  "Radiosol Radiomar Radioluna Radiocielo Radiorío Radiosur Radionorte Radioluz",
);
const DISHES = list("gazpacho tortilla lentejas croquetas paella fabada pisto migas cocido");

/** These were written later still, in sentences that none of the others has; adverbs for `now` were added to the rules afterwards. */
const FOURTH: readonly Attribute[] = [
  {
    said: "{who} roots for the {value}.",
    question: "Which team does {who} root for?",
    changes: [
      ["named", "{who} turned away from the {old} and roots for the {value}."],
      ["worded", "{who} has become a fan of the {value}."],
      ["restated", "{who} roots for the {value}."],
    ],
    values: TEAMS,
  },
  {
    said: "{who} eats {value}.",
    question: "What diet does {who} follow?",
    changes: [
      ["named", "{who} used to eat {old} but eats {value} today."],
      ["worded", "As of this week, {who} eats {value}."],
    ],
    values: DIETS,
  },
  {
    said: "The gym of {who} costs {value} pounds a year.",
    question: "What does the gym of {who} cost?",
    changes: [
      ["number", "The gym of {who} costs {value} pounds a year."],
      ["worded", "The gym of {who} went up to {value} pounds a year."],
    ],
    values: [],
  },
  {
    said: "{who} hat ein Konto bei der {value}.",
    question: "Bei welcher Bank ist {who}?",
    changes: [
      ["named", "{who} hat das Konto bei der {old} aufgelöst und ist nun bei der {value}."],
      ["worded", "Neuerdings hat {who} ein Konto bei der {value}."],
      ["restated", "{who} hat ein Konto bei der {value}."],
    ],
    values: BANKS,
  },
  {
    said: "Im Garten von {who} wachsen {value}.",
    question: "Was wächst im Garten von {who}?",
    changes: [
      ["worded", "Im Garten von {who} wachsen anstelle der {old} jetzt {value}."],
      ["restated", "Im Garten von {who} wachsen {value}."],
    ],
    values: KINDS,
  },
  {
    said: "{who} escucha {value} por la mañana.",
    question: "¿Qué emisora escucha {who} por la mañana?",
    changes: [
      ["named", "{who} se pasó de {old} a {value}."],
      ["worded", "Últimamente {who} escucha {value} por la mañana."],
    ],
    values: CHANNELS,
  },
  {
    said: "El plato favorito de {who} es {value}.",
    question: "¿Cuál es el plato favorito de {who}?",
    changes: [
      ["worded", "A {who} ya no le gusta {old}, ahora prefiere {value}."],
      ["restated", "El plato favorito de {who} es {value}."],
    ],
    values: DISHES,
  },
];

export const ATTRIBUTES = { first: FIRST, second: SECOND, third: THIRD, fourth: FOURTH } as const;
