import type { NodeType } from "../../../src/domain/enums.ts";

/** Sixty memories of one life, each with a question that it answers. */
export const LIFE: readonly {
  readonly nodeType: NodeType;
  readonly content: string;
  readonly question: string;
}[] = (
  [
    ["fact", "My name is Petra Lindqvist.", "What is my name?"],
    ["fact", "I was born in Uppsala on 4 May 1979.", "Where was I born?"],
    ["fact", "My blood type is A negative.", "What is my blood type?"],
    ["fact", "I am allergic to penicillin.", "Which medicine am I allergic to?"],
    ["preference", "I drink tea at breakfast and never coffee.", "What do I drink at breakfast?"],
    ["preference", "I want recipes in grams, not in cups.", "Which units do I want in recipes?"],
    ["instruction", "Always write to me in short sentences.", "How should you write to me?"],
    [
      "instruction",
      "Never book flights before nine in the morning.",
      "When should flights not be booked?",
    ],
    [
      "decision",
      "We decided to keep the old boat and sell the trailer.",
      "What did we decide about the boat?",
    ],
    [
      "decision",
      "I chose the blue kitchen tiles over the white ones.",
      "Which kitchen tiles did I choose?",
    ],
    [
      "task",
      "Renew the passport of Emil before the summer holidays.",
      "Whose passport has to be renewed?",
    ],
    [
      "task",
      "Write to the landlord about the boiler.",
      "What do I have to write to the landlord about?",
    ],
    [
      "event",
      "On 12 March my daughter Klara passed her driving test.",
      "When did Klara pass her driving test?",
    ],
    ["event", "The roof was repaired in October by Berg and Sons.", "Who repaired the roof?"],
    ["note", "The spare key lies under the third flower pot.", "Where is the spare key?"],
    [
      "note",
      "The wifi of the summer house is called Sommarro.",
      "What is the wifi of the summer house called?",
    ],
    ["fact", "Dr Amira Haddad is my general practitioner.", "Who is my general practitioner?"],
    ["fact", "My dentist is in Kungsgatan 14.", "Where is my dentist?"],
    ["fact", "Our cat is called Mimi and eats only fish.", "What does the cat eat?"],
    ["fact", "My brother Jonas lives in Gothenburg.", "Where does Jonas live?"],
    ["preference", "I like aisle seats on trains.", "Which seats do I like on trains?"],
    ["preference", "My favourite author is Tove Jansson.", "Who is my favourite author?"],
    ["fact", "I work as a hydrologist at the county office.", "What do I work as?"],
    ["fact", "My manager is Henrik Ek.", "Who is my manager?"],
    [
      "note",
      "The password hint of the savings account is grandmother's village.",
      "What is the password hint of the savings account?",
    ],
    [
      "note",
      "The car needs winter tyres of size 205.",
      "Which size do the winter tyres of the car have?",
    ],
    [
      "event",
      "In June 2019 we hiked the Kungsleden with Anna.",
      "With whom did we hike the Kungsleden?",
    ],
    ["event", "My father had knee surgery on 3 February.", "When did my father have knee surgery?"],
    [
      "task",
      "Order new filters for the water pump every January.",
      "What has to be ordered every January?",
    ],
    [
      "task",
      "Call the insurance about the hail damage.",
      "Whom do I have to call about the hail damage?",
    ],
    [
      "decision",
      "The choir rehearses on Thursdays from now on.",
      "On which day does the choir rehearse?",
    ],
    [
      "decision",
      "We will spend Christmas with Jonas this year.",
      "With whom will we spend Christmas?",
    ],
    ["fact", "Emil is in class 7B at Valla school.", "In which class is Emil?"],
    ["fact", "Klara studies architecture in Lund.", "What does Klara study?"],
    ["preference", "I hate cilantro in any dish.", "Which herb do I hate?"],
    ["preference", "I prefer window blinds to curtains.", "What do I prefer to curtains?"],
    [
      "note",
      "The recipe of the cardamom buns is in the red folder.",
      "Where is the recipe of the cardamom buns?",
    ],
    ["note", "Bins are emptied on every second Tuesday.", "When are the bins emptied?"],
    ["fact", "My shoe size is 39.", "What is my shoe size?"],
    [
      "fact",
      "The licence plate of our Volvo is MLK 482.",
      "What is the licence plate of the Volvo?",
    ],
    ["fact", "Our wedding anniversary is on 21 August.", "When is our wedding anniversary?"],
    [
      "event",
      "We adopted Mimi from the shelter in Solna in 2021.",
      "From which shelter did we adopt Mimi?",
    ],
    [
      "event",
      "The basement flooded during the storm Alfrida.",
      "During which storm did the basement flood?",
    ],
    [
      "instruction",
      "Convert foreign prices to kronor for me.",
      "Into which currency should prices be converted?",
    ],
    [
      "instruction",
      "Remind me to stretch after long drives.",
      "What should you remind me of after long drives?",
    ],
    ["note", "The piano tuner is Oskar and comes in spring.", "Who is the piano tuner?"],
    ["note", "The best bakery for rye bread is Fabrique.", "Which bakery is best for rye bread?"],
    ["fact", "I speak German and a little Finnish.", "Which languages do I speak?"],
    ["fact", "My mother's maiden name is Sandell.", "What is the maiden name of my mother?"],
    [
      "preference",
      "I read the news in the evening and not in the morning.",
      "When do I read the news?",
    ],
    ["preference", "I like hotels with a sauna.", "Which hotels do I like?"],
    ["task", "Plant the tulip bulbs in November.", "What has to be planted in November?"],
    [
      "decision",
      "I stopped using the gym in Solna and run outside.",
      "Which gym did I stop using?",
    ],
    ["event", "My first concert was Kent in Stockholm in 1998.", "What was my first concert?"],
    [
      "fact",
      "The neighbour with the tractor is called Gustav.",
      "What is the neighbour with the tractor called?",
    ],
    ["fact", "My bicycle is a green Crescent.", "Which bicycle do I have?"],
    [
      "note",
      "The chimney sweep's number is on the fridge.",
      "Where is the number of the chimney sweep?",
    ],
    ["note", "Paint for the fence is Falu red 18.", "Which paint does the fence have?"],
    ["decision", "We lend the cabin to Anna in July.", "To whom do we lend the cabin in July?"],
    [
      "fact",
      "My reading glasses have 1.5 dioptres.",
      "How many dioptres do my reading glasses have?",
    ],
  ] as const
).map(([nodeType, content, question]) => ({ nodeType, content, question }));
