import { expect, test } from "bun:test";
import {
  list,
  noted,
  nullable,
  number,
  object,
  omitted,
  text,
  told,
  view,
} from "../../src/lib/form.ts";
import { camelKeys, given, snakeCase } from "../../src/lib/text.ts";

type Person = {
  readonly fullName: string;
  readonly age: number | undefined;
  readonly nickName: string | undefined;
  readonly pets: readonly string[];
};
const ADA: Person = { fullName: "Ada", age: undefined, nickName: undefined, pets: ["Tom"] };

const personView = view<Person>()({
  fullName: text,
  nickName: omitted(text),
  age: nullable(number),
  petCount: told(number, ({ pets }) => pets.length),
  firstPet: told(omitted(text), ({ pets }) => pets[0]),
  pets: list(text),
});

test("a view has the declared members in their order, null or left out where there is nothing", () => {
  expect(JSON.stringify(personView.json(ADA))).toBe(
    '{"full_name":"Ada","age":null,"pet_count":1,"first_pet":"Tom","pets":["Tom"]}',
  );
  expect(JSON.stringify(personView.json({ ...ADA, nickName: "A.", age: 36, pets: [] }))).toBe(
    '{"full_name":"Ada","nick_name":"A.","age":36,"pet_count":0,"pets":[]}',
  );
});

test("the notes of a form are not those of a form around it", () => {
  const named = noted(object({ a: text }), { id: "A" });
  expect(named.notes).toEqual({ id: "A" });
  expect([nullable(named).notes, omitted(named).notes, list(named).notes]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("names change their case and back, values stay", () => {
  const settings = { token_budget: 1, aggregation_k_max: null, list: ["a_b"] };
  expect<object>(camelKeys(settings)).toEqual({
    tokenBudget: 1,
    aggregationKMax: null,
    list: ["a_b"],
  });
  expect(["tokenBudget", "sha256Of"].map(snakeCase)).toEqual(["token_budget", "sha256_of"]);
  expect<object>(given({ a: null, b: undefined, c: 0 })).toEqual({ c: 0 });
});
