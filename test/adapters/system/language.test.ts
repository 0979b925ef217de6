import { expect, test } from "bun:test";
import { systemLanguage } from "../../../src/adapters/system/system.ts";

test.each([
  ["en", {}],
  ["en", { LANG: "C" }],
  ["en", { LANG: "C.UTF-8" }],
  ["en", { LC_ALL: "POSIX", LANG: "de_DE.UTF-8" }],
  ["en", { LANG: "en_GB.UTF-8" }],
  ["de", { LANG: "de_DE.UTF-8@euro" }],
  ["de", { LANG: "de" }],
  ["fr", { LC_MESSAGES: "fr_FR", LANG: "en_US.UTF-8" }],
  ["en", { LC_ALL: "en_US.UTF-8", LC_MESSAGES: "fr_FR", LANG: "fr_FR" }],
  ["it", { LC_ALL: "", LANG: "it_IT" }],
  ["fil", { LANG: "fil_PH.UTF-8" }],
  ["en", { LANG: "../../etc" }],
])("the language of the system is %s with %j", (language, environment) => {
  expect(systemLanguage(environment)).toBe(language);
});
