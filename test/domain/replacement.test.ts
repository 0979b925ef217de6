import { describe, expect, test } from "bun:test";
import {
  mayReplace,
  readStatement,
  replaces,
  type Statement,
} from "../../src/domain/replacement.ts";
import { endsAnother } from "../../src/domain/same-saying.ts";

function statement(text: string): Statement {
  const read = readStatement(text);
  if (read === undefined) throw new Error(`${text} is no statement`);
  return read;
}

const judge = (newer: string, older: string, cosine: number, isSaid = false) =>
  replaces(statement(newer), statement(older), cosine, isSaid);

describe("a newer statement replaces an older one", () => {
  test.each([
    ["Ann lives in Bristol now.", "Ann lives in Leeds."],
    ["Ann isn't allergic to nuts.", "Ann is allergic to nuts."],
    ["Kaffee trinkt Jan gar keinen mehr.", "Jan trinkt jeden Tag Kaffee."],
    ["Carmen ya no trabaja los sábados.", "Carmen trabaja los sábados."],
    ["The rent is 1340 euros.", "The rent is 1250 euros."],
    ["Ann no longer works for Juno but for Lumen.", "Ann no longer works for Corvex but for Juno."],
    ["Ann's hobby is yoga instead of chess.", "Ann's hobby is chess instead of rowing."],
    ["Jan trinkt Tee statt Kakao.", "Jan trinkt Kakao statt Mate."],
    ["Eva ya no vive en Lugo sino en Vigo.", "Eva ya no vive en Soria sino en Lugo."],
  ])("%s / %s", (newer, older) => {
    expect(judge(newer, older, 0.87)).toBe(true);
  });
});

describe("what ended is another thing, or another person's", () => {
  test.each([
    ["Carla is no longer allergic to dust", "Carla is allergic to nuts"],
    ["Tom no longer takes ibuprofen", "Tom takes aspirin every morning"],
    ["We no longer deploy on Sundays", "We deploy on Fridays"],
    ["Ana doesn't speak French", "Ana speaks Spanish"],
    ["My father no longer lives in Graz", "My mother lives in Graz"],
    ["Lisa no longer trusts Paul", "Lisa trusts Peter"],
    ["Service A no longer uses Redis 6", "Service A uses PostgreSQL 15"],
    ["Leo's wife is no longer vegetarian", "Leo is vegetarian"],
    ["Ruth ist keine Veganerin mehr", "Ruths Tochter ist Veganerin"],
    ["Mi abuelo ya no vive en Graz", "Mi abuela vive en Graz"],
    ["I water the cactus once a month instead of every week", "I water the ferns every day"],
    ["Mia cancelled her subscription to the Ledger", "Mia has a subscription to the Herald"],
    ["Lena hat ihr Abo des Boten gekündigt", "Lena hat ein Abo der Rundschau"],
    ["Rosa vendió su coche", "Rosa tiene una moto"],
    ["Ben's right knee no longer hurts", "Ben's left knee hurts"],
    ["Klavier spielt Ute nicht mehr, sie hat es verschenkt", "Ute spielt noch Geige"],
    ["Marta dejó las clases de costura", "Marta da clases de canto"],
  ])("%s / %s", (newer, older) => {
    expect(endsAnother(statement(newer), statement(older))).toBe(true);
  });

  test.each([
    ["Carla is no longer allergic to nuts", "Carla is allergic to nuts since 2019"],
    ["Seit Mai wohnt Jan nicht mehr in Graz", "Jan lebt in Graz"],
    ["Since the move we no longer meet on Mondays", "We meet on Mondays"],
    ["Ben can't stand tea any more and drinks cocoa", "Ben loves tea"],
    ["I sold the red Volvo last week", "I drive a red Volvo"],
    ["Wir haben das Hotel in Rom storniert", "Wir haben das Hotel in Rom gebucht"],
    ["Staging was upgraded to PostgreSQL 16, it no longer has Redis", "Staging has PostgreSQL 15"],
  ])(
    "and not where the older one states it, or something else changed: %s / %s",
    (newer, older) => {
      expect(endsAnother(statement(newer), statement(older))).toBe(false);
    },
  );
});

describe("both statements stay true", () => {
  test.each([
    ["Ben lives in Bristol.", "Ann lives in Leeds."],
    ["We have a tortoise called Gherkin.", "We have a cat called Miso."],
    ["Invoice 2042 is paid.", "Invoice 2041 is paid."],
    ["Donna moved to Denver.", "Dana moved to Chicago."],
    ["Ben keeps notes in Roam these days.", "Ann keeps notes in Roam."],
    ["The hobby of Ben is origami instead of rowing.", "The hobby of Ann is rowing."],
    ["Ben's hobby is origami instead of rowing.", "Ann's hobby is rowing."],
    ["The users service now listens on port 8082.", "The orders service listens on port 8081."],
    ["Das WLAN im Keller heißt jetzt Dachs.", "Das WLAN im Büro heißt Adler."],
  ])("%s / %s", (newer, older) => {
    expect(judge(newer, older, 0.9)).toBe(false);
    const one = statement(newer);
    expect(mayReplace(one, one, false)).toBe(false);
  });

  test("where the words of change stand in the older one", () => {
    expect(judge("Ann lives in Leeds.", "Ann lives in Bristol now.", 0.9)).toBe(false);
  });

  test("where the vectors are far apart, and for what was said even where they are nearer", () => {
    expect(judge("Ann lives in Bristol now.", "Ann lives in Leeds.", 0.3)).toBe(false);
    expect(judge("Ann lives in Bristol now.", "Ann lives in Leeds.", 0.7, true)).toBe(false);
  });
});

test("two sides of one person are told apart where their vectors are less near, and two homes are not", () => {
  expect(judge("Ann lives in Bristol now.", "Ann works for Corvex.", 0.76)).toBe(false);
  expect(judge("Ann moved from York to Bristol.", "Ann lives in Leeds.", 0.68)).toBe(true);
  expect(judge("Jan ist von Ulm nach Bonn gezogen.", "Jan wohnt in Kiel.", 0.68)).toBe(true);
  expect(judge("Eva se mudó de Lugo a Vigo.", "Eva vive en Soria.", 0.68)).toBe(true);
});

test("a long text and one without words are no statements", () => {
  expect(readStatement("Ann lives in Bristol. ".repeat(30))).toBeUndefined();
  expect(readStatement("…")).toBeUndefined();
});
