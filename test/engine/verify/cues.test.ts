import { describe, expect, test } from "bun:test";
import {
  isNegatedClaim,
  negatedClauses,
  segments,
  speechModes,
} from "../../../src/engine/verify/cues.ts";

describe("speechModes", () => {
  test.each([
    {
      mode: "desire",
      cues: "want|wants|wanted|wanting|would like|I'd like|I’d like|wish|wishes|wished|wishing|hope|hopes|hoped|hoping|need|needs|needed|needing|aim|aims|aimed|aiming|seek|seeks|seeking|sought",
    },
    {
      mode: "attempt",
      cues: "try|tries|tried|trying|attempt|attempts|attempted|attempting|work on|works on|worked on|working on|works to|worked to",
    },
    {
      mode: "plan",
      cues: "plan|plans|planned|planning|intend|intends|intended|intending|schedule|schedules|scheduled|scheduling|consider|considers|considered|considering|explore|explores|explored|exploring|evaluate|evaluates|evaluated|evaluating",
    },
    {
      mode: "advice",
      cues: "should|shouldn't|ought|recommend|recommends|recommended|recommending|suggest|suggests|suggested|suggesting|advise|advises|advised|advising",
    },
    {
      mode: "uncertainty",
      cues: "might|maybe|perhaps|possible|possibly|potentially|uncertain|whether",
    },
    { mode: "conditional", cues: "if|unless|provided that|in case" },
    { mode: "unverified", cues: "unverified|unconfirmed|reportedly|allegedly" },
    {
      mode: "question",
      cues: "?|ask|asks|asked|asking|question|questions|questioned|questioning|wonder|wonders|wondered|wondering|whether",
    },
  ] as const)("finds the mode $mode in every form of its cues", ({ mode, cues }) => {
    for (const cue of cues.split("|")) {
      for (const text of [`Ann ${cue} it`, `Ann ${cue.toUpperCase()} it`, `Ann ${cue}.`]) {
        expect({ text, modes: [...speechModes(text)] }).toEqual({
          text,
          modes: expect.arrayContaining([mode]),
        });
      }
    }
  });

  test.each([
    "Ann moved to Oslo in May.",
    "The planet and the trial, the hopeful seeker, an iffy wanton, a needle, an aimless tryst.",
    "Ann works at the port. A reporter consulted the askew sign.",
    "The plane landed; the shoulder healed; the mighty wind.",
  ])("finds none in plain statements: %s", (text) => {
    expect([...speechModes(text)]).toEqual([]);
  });

  test("finds phrases across a line break", () => {
    expect([...speechModes("Ann works\non it")]).toEqual(["attempt"]);
  });

  test("finds several at once", () => {
    expect([...speechModes("Should Ann try, if she wants?")]).toEqual([
      "desire",
      "attempt",
      "advice",
      "conditional",
      "question",
    ]);
  });
});

describe("negation", () => {
  test.each([
    "not",
    "never",
    "no longer",
    "cannot",
    "can't",
    "can’t",
    "isn't",
    "aren't",
    "wasn't",
    "weren't",
    "didn't",
    "doesn't",
    "don't",
    "won't",
    "NOT",
    "Never",
  ])("is found in evidence and claims by %s", (cue) => {
    expect(negatedClauses(`Ann ${cue} there`)).toHaveLength(1);
    expect(isNegatedClaim(`Ann ${cue} there`)).toBe(true);
  });

  test.each([
    "no",
    "neither",
    "nor",
    "without",
    "instead",
    "rather than",
    "switched from",
    "replaced",
    "incorrect",
    "false",
  ])("is found in claims alone by %s", (cue) => {
    expect(negatedClauses(`Ann ${cue} there`)).toEqual([]);
    expect(isNegatedClaim(`Ann ${cue} there`)).toBe(true);
  });

  test.each(["Ann knows the knot", "a notable want", "nevertheless she can", "Nora replaces it"])(
    "is not found in: %s",
    (text) => {
      expect(negatedClauses(text)).toEqual([]);
      expect(isNegatedClaim(text)).toBe(false);
    },
  );

  test("is kept to its clause", () => {
    expect(negatedClauses("Ann drinks tea, but Bob does not drink coffee and Eve rests")).toEqual([
      " Bob does not drink coffee ",
    ]);
  });
});

describe("segments", () => {
  test.each([
    { name: "sentences", text: "One. Two! Three? Four", parts: ["One.", "Two!", "Three?", "Four"] },
    { name: "a lower-case continuation", text: "one. two", parts: ["one. two"] },
    {
      name: "a decimal",
      text: "It cost 3.50 in all. 12 came.",
      parts: ["It cost 3.50 in all.", "12 came."],
    },
    {
      name: "lines",
      text: "first line\nsecond line\r\n\nthird",
      parts: ["first line", "second line", "third"],
    },
    {
      name: "an escaped line break",
      text: '- [m1] "first\\nsecond"',
      parts: ['- [m1] "first', 'second"'],
    },
    { name: "accented capitals", text: "Élan counts. Öl too.", parts: ["Élan counts.", "Öl too."] },
    { name: "blanks", text: " \n ", parts: [] },
  ])("of $name", ({ text, parts }) => {
    expect(segments(text)).toEqual(parts);
  });
});
