import { describe, expect, test } from "bun:test";
import { retirementBy } from "../../src/domain/retirement.ts";

const retires = (newer: string, older: string) => retirementBy(newer)?.(older) ?? false;

describe("what was given up is no longer true", () => {
  test.each([
    ["Ben switched from cider to tea.", "Ben drinks cider."],
    ["Ben has finally moved from Bonn to Rome.", "Since May Ben lives in Bonn."],
    ["Ben migrated from Craft to Bear.", "Ben migrated from Bear to Craft for notes."],
    ["Ben replaced origami with chess.", "The hobby of Ben is origami."],
    ["My sister Julia moved from Bonn to Rome.", "Julia lives in Bonn."],
    ["We switched from Postgres to SQLite", "Our database is Postgres"],
    ["We switched from Postgres to SQLite", "Postgres is our database"],
    ["The backend team switched from Slack to Zulip.", "The backend team talks in Slack."],
    ["Rain again. I switched from cider to tea.", "I drink cider"],
    ["My brother switched from cider to tea.", "My brother drinks cider."],
    ["Ben moved from Bonn to Rome.", "Ben moved from Kiel to Bonn."],
    ["Ben no longer works for Altova but for Corvex.", "Ben works for Altova."],
    [
      "Ben no longer works for Altova but for Corvex.",
      "Ben no longer works for Lumen but for Altova.",
    ],
    ["Ben arbeitet nicht mehr bei Altova, sondern bei Corvex.", "Ben arbeitet bei Altova."],
    ["Eva ist von Bonn nach Kiel gezogen.", "Eva wohnt in Bonn."],
    ["Eva hat Slack durch Zulip ersetzt.", "Eva schreibt in Slack."],
    ["Eva ya no trabaja en Altova, sino en Corvex.", "Eva trabaja en Altova."],
    ["Eva se mudó de Lugo a Vigo.", "Eva vive en Lugo."],
    ["Eva cambió el café por el té.", "Eva toma café."],
    ["Ann traded the Seat in for a Skoda.", "Ann drives a Seat these days."],
    ["Ann stopped drinking kefir and drinks mate.", "Ann drinks kefir."],
    ["Jan hat bei Altova gekündigt und ist jetzt bei Juno.", "Jan arbeitet bei Altova."],
    ["Eva ha dejado derecho y ahora estudia arte.", "Eva estudia derecho."],
    ["Ann dropped Slack in favour of Zulip.", "Ann writes in Slack."],
    [
      "Eva hat das Konto bei der Nordbank aufgelöst und ist nun bei der Seebank.",
      "Eva hat ein Konto bei der Nordbank.",
    ],
  ])("%s / %s", (newer, older) => {
    expect(retires(newer, older)).toBe(true);
  });
});

describe("what another one still has, or what another word names, stays", () => {
  test.each([
    ["Ben switched from cider to tea.", "Ann drinks cider."],
    ["Ben switched from cider to tea.", "I drink cider."],
    ["Ben switched from cider to tea.", "Ann and Ben drink cider."],
    ["Ben switched from cider to tea.", "Ben and Ann drink cider."],
    ["Ben moved from Bonn to Rome.", "Ben visits Ann in Bonn."],
    ["Ben moved from Bonn to Rome.", "Ben's brother lives in Bonn."],
    ["I switched from cider to tea.", "Ann drinks cider."],
    ["I switched from cider to tea.", "My brother drinks cider."],
    ["I moved from Bonn to Rome.", "My mother lives in Bonn."],
    ["I switched from tea to milk.", "I work with a team of three."],
    ["The backend team switched from Slack to Zulip.", "The design team talks in Slack."],
    ["I drink cider.", "I drink cider."],
    ["Ben no longer works for Altova but for Corvex.", "Ben works for Lumen."],
    ["Ben no longer works for Altova but for Corvex.", "Ann works for Altova."],
    ["Ben no longer works for Altova.", "Ben works for Altova."],
    [
      "Ben no longer works for Altova but for Corvex.",
      "Ben no longer works for Altova but for Lumen.",
    ],
    ["Eva ist von Bonn nach Kiel gezogen.", "Jan wohnt in Bonn."],
    ["Ann traded the Seat in for a Skoda.", "Ben drives a Seat these days."],
    ["Ann stopped smoking and bought a car.", "Ann buys cars and sells them."],
    ["Ann stopped the car and got out.", "Ann drives a car."],
    ["Ann went from Bonn to Rome by train.", "Ann lives in Bonn."],
    ["Ann traded stocks for years.", "Ann owns stocks."],
    ["Ann never switched from cider to tea.", "Ann drinks cider."],
    ["Ann hasn't switched from cider to tea.", "Ann drinks cider."],
    ["Ann might have moved from Bonn to Rome.", "Ann lives in Bonn."],
    ["Has Ann moved from Bonn to Rome?", "Ann lives in Bonn."],
    ["Eva ist nicht von Bonn nach Kiel gezogen.", "Eva wohnt in Bonn."],
    ["I switched from cider to tea.", "She drinks cider."],
    ["Eva se mudó de Lugo a Vigo.", "La madre de Eva vive en Lugo."],
    ["The judge dropped Ann's claim in favour of Ben.", "Ann has a claim."],
    ["Ann turned away from the window and smiled.", "Ann sits at the window."],
    ["Ben is used to cider but drinks tea.", "Ben drinks cider."],
    [
      "Eva hat das Konto bei der Nordbank aufgelöst und ist nun bei der Seebank.",
      "Jan hat ein Konto bei der Nordbank.",
    ],
  ])("%s / %s", (newer, older) => {
    expect(retires(newer, older)).toBe(false);
  });
});
