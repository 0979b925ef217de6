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
  ])("%s / %s", (newer, older) => {
    expect(retires(newer, older)).toBe(false);
  });
});
