import { isMentioned } from "./mentions.ts";

/** What a sentence says was given up for something else, and what that is. */
export type Exchange = { readonly older: string; readonly newer: string };

const NAME = `[^,;.!?]{1,80}?`;
const NEWER = `(?<newer>[^,;.!?]{1,80})`;
const FORMS: readonly RegExp[] = [
  `(?:left|leave|leaves|leaving|quit|dropped|ditched|dumped|abandoned|gave up|given up|giving up) (?<older>${NAME}) (?:for|in favou?r of) ${NEWER}`,
  `(?:traded|swapped|exchanged) (?<older>${NAME}) (?:in )?(?:for|with) ${NEWER}`,
  `(?:hat|hast|habe|haben) (?<older>${NAME}) (?:für|gegen|zugunsten von) (?<newer>${NAME}) (?:verlassen|aufgegeben|getauscht|eingetauscht|gewechselt)`,
  `(?:tausch|wechsel)(?:e|t|te|ten) (?<older>${NAME}) gegen ${NEWER}`,
  `(?:dej(?:é|ó|amos|aron|ado)|abandon(?:é|ó|amos|aron|ado)|cambi(?:é|ó|amos|aron|ado)|cambi) (?<older>(?!de )${NAME}) por ${NEWER}`,
].map(
  (form) =>
    new RegExp(String.raw`(?<![\p{L}\p{M}])${form.replaceAll(" ", String.raw`\s{1,3}`)}`, "giu"),
);

/** What is no thing that takes a place: `left Oslo for a week`, `for good`, `for fear of rain`. */
const NO_THING =
  /^(?:(?:the|a|an|one|two|three|four|five|six|ten|\d+|some|few|several|about|around|der|die|das|ein\p{L}*|zwei|drei|una?|unos|unas|dos|tres)\s+)*(?:(?:whole|long|short|few|first|second|third|last|ganze\p{L}*)\s+)*(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|whiles?|times?|bit|moment|good|ever|now|once|fun|fear|lack|sure|example|lunch|dinner|breakfast|walk|holidays?|vacation|rest|break|christmas|easter|(?:an?\s+)?old|\p{L}+\s+(?:man|woman|lady|person)|me|us|him|her|them|sekunden?|minuten?|stunden?|tage?|wochen?|monate?|jahre?|weile|immer|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|rato|siempre|ahora)(?![\p{L}])/iu;
/** Behind one of these nothing was given up, or not yet. */
const NO_STATEMENT =
  /(?:n['’]t|not|never|nicht|nie|no|nunca|to|will|would|might|may|could|should|['’]ll|if|wenn|falls|si)\s+(?:\p{L}+\s+)?$/iu;

/** UTF-16 units before a verb that are read. */
const NEAR = 40;

/** What a passage says was exchanged for something else. */
export function exchangesIn(passage: string): readonly Exchange[] {
  return FORMS.flatMap((form) =>
    [...passage.matchAll(form)].flatMap(({ index, groups }) => {
      const { older = "", newer = "" } = groups ?? {};
      const isNone =
        NO_THING.test(newer) ||
        NO_STATEMENT.test(passage.slice(Math.max(0, index - NEAR), index)) ||
        /(?<![\p{L}])(?:nicht|not)(?![\p{L}])/iu.test(older);
      return isNone
        ? []
        : [{ older, newer: newer.split(/\s(?:and|because|since|und|weil|y|porque)\s/iu)[0] ?? "" }];
    }),
  );
}

/** The side of an exchange on which a value alone stands. */
export function sideOf(value: string, passage: string): "older" | "newer" | undefined {
  for (const { older, newer } of exchangesIn(passage)) {
    const [isOlder, isNewer] = [isMentioned(value, older), isMentioned(value, newer)];
    if (isOlder !== isNewer) return isOlder ? "older" : "newer";
  }
  return undefined;
}
