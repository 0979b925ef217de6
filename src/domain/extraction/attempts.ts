import type { CueLanguage } from "./language.ts";
import { isMentioned } from "./mentions.ts";
import { isFirstPerson } from "./personal.ts";

/** A clause that says what somebody wants, plans or tries, and so not that it is done. */
type Attempt = {
  /** Who: a pronoun or name of the text; `I` or `we` where the verb alone says it. */
  readonly who: string;
  /** The word for it, such as `trying`. */
  readonly cue: string;
  /** What is attempted. */
  readonly body: string;
  /** The whole clause, as in the text. */
  readonly quote: string;
};

/** A predicate with one of these says itself that it is no more than an attempt. */
const ATTEMPT_STEM =
  /try|tried|tries|trying|attempt|plan|intend|want|need|hope|hoping|aim|look|work|seek|request|ask|propos|consider|evaluat|explor|wish|will|would|going|goal|dream|interest/i;

/** UTF-16 units of a body. */
const BODY_MAX = 400;
const WHO = String.raw`(?<who>I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|\p{Lu}[\p{L}'’-]+(?:\s\p{Lu}[\p{L}-]+)?)`;
const ING =
  "trying|attempting|planning|hoping|aiming|looking|working|going|intending|wanting|dreaming of|thinking of|thinking about";
const PLAIN =
  "try|tries|tried|attempt|attempts|attempted|wants?|wanted|needs?|needed|plans?|planned|intends?|intended|hopes?|hoped|aims?|aimed|looks?|looked|works?|worked|wish|wishes|wished";
const PERFECT = "tried|attempted|planned|hoped|aimed|wanted|wished";

const ENGLISH = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])${WHO}(?:['’](?:m|re|s)\s+|\s+(?:am|are|is|was|were)\s+|['’](?:ve|d|s)\s+|\s+(?:have|has|had)\s+(?:been\s+)?|['’]d\s+|\s+would\s+|\s+)(?:(?:still|really|also|currently|just|only|always|now)\s+)*(?<cue>${ING}|${PERFECT}|${PLAIN}|love|like)\s+(?:to\s+)?(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);
/** `like` and `love` are wishes only after `would`. */
const WOULD = /(?:['’]d|would)\s+(?:\p{L}+\s+)*(?:like|love)\s+to\s/iu;
const TO =
  /(?:trying|attempting|planning|hoping|aiming|looking|working|going|intending|wanting|tr(?:y|ies|ied)|attempt(?:s|ed)?|wants?|wanted|needs?|needed|plans?|planned|intends?|intended|hopes?|hoped|aims?|aimed|looks?|looked|works?|worked|wish(?:es|ed)?|like|love)\s+to\s|(?:dreaming of|thinking of|thinking about)\s/iu;

const WILL = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])${WHO}(?:['’]ll|\s+(?<cue>will))\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);
const GERMAN = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?:(?<who>[Ii]ch|[Ww]ir|[Ee]r|[Ss]ie|\p{Lu}\p{L}+)\s+)(?<cue>möchten?|möchtest|will|wollen|wollte[n]?|würden?|versuchen?|versucht|planen?|plant|hoffen?|hofft|habe vor|haben vor|überlegen?)(?:\s+(?:ich|wir|er|sie))?,?\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);
const GERMAN_INVERTED = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?<cue>möchte|möchten|will|wollen|würde|würden|versuche|versuchen|plane|planen|hoffe|hoffen)\s+(?<who>ich|wir|er|sie)\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "giu",
);
const SPANISH_WHO = String.raw`(?:(?<who>[Yy]o|[Nn]osotros|[Nn]osotras|[ÉéEe]l|[Ee]lla|\p{Lu}\p{L}+)\s+)?`;
const SPANISH = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])${SPANISH_WHO}(?<cue>[Qq]uiero|[Qq]uisiera|[Qq]uerría|[Mm]e gustaría|[Ii]ntento|[Tt]rato de|[Ee]stoy intentando|[Ee]stoy tratando de|[Pp]laneo|[Pp]ienso|[Ee]spero|[Nn]ecesito|[Vv]oy a|[Tt]engo (?:previsto|pensado)|[Qq]ueremos|[Ii]ntentamos|[Ee]speramos|[Vv]amos a|[Pp]ensamos|[Nn]os gustaría|quiere|intenta|espera|planea|piensa|va a)\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);

/** The end of a body: of its sentence, or of its clause. */
const BODY_END =
  /[!?;]|\.(?=\s|$)|,\s+(?:but|and|so|although|though|however|aber|und|obwohl|doch|pero|y|aunque)(?![\p{L}])/iu;

/** The attempts in a passage. */
function attemptsIn(passage: string, language: CueLanguage): readonly Attempt[] {
  const found = [...matches(passage, ENGLISH)].filter(({ quote, cue }) =>
    /^(?:like|love)$/i.test(cue) ? WOULD.test(quote) : TO.test(quote),
  );
  found.push(...matches(passage, WILL));
  if (language === "de") {
    found.push(...matches(passage, GERMAN), ...matches(passage, GERMAN_INVERTED));
  }
  if (language === "es") found.push(...matches(passage, SPANISH));
  return found;
}

function* matches(passage: string, pattern: RegExp): Generator<Attempt> {
  for (const match of passage.matchAll(pattern)) {
    const { who, cue = "", body = "" } = match.groups ?? {};
    const end = body.search(BODY_END);
    const kept = end === -1 ? body : body.slice(0, end);
    const quote = `${match[0]}${kept}`;
    yield { who: who ?? impliedWho(cue), cue: cue.toLowerCase(), body: kept, quote };
  }
}

/** Who acts, by the ending of a Spanish verb. */
function impliedWho(cue: string): string {
  if (/mos$|^nos /i.test(cue)) return "we";
  return /^(?:quiere|intenta|espera|planea|piensa|va a)$/i.test(cue) ? "" : "I";
}

/** Whether a claim states as done what the passage only says to be attempted. */
export function isOnlyAttempted(
  claim: { readonly subject: string; readonly predicate: string; readonly object: string },
  passage: string,
  language: CueLanguage,
): boolean {
  if (ATTEMPT_STEM.test(claim.predicate)) return false;
  return attemptsIn(passage, language).some(
    ({ who, body }) =>
      isMentioned(claim.object, body) &&
      (isSame(claim.subject, who) || isMentioned(claim.subject, body)),
  );
}

function isSame(subject: string, who: string): boolean {
  const name = subject.trim().toLowerCase();
  if (who === "") return true;
  return name === who.toLowerCase() || (isFirstPerson(subject) && isFirstPerson(who));
}
