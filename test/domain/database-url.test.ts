import { describe, expect, test } from "bun:test";
import { pathArgument } from "../../src/config/path.ts";
import {
  databasePlace,
  databaseUrlProblem,
  isAddress,
  isDatabaseUrl,
  shownPlace,
  unusableAddress,
} from "../../src/domain/addresses.ts";

const SECRET = "hunter2";

describe("an address of a database", () => {
  test.each([
    ["postgres://anna:hunter2@db.example:5432/m", "anna@", "postgres://db.example:5432/m"],
    ["Postgres://anna:hunter2@db.example/m", "anna@", "postgres://db.example/m"],
    ["postgres://anna%40team@db.example/m", "anna%40team@", "postgres://db.example/m"],
    ["postgresql://db.example/m?password=hunter2", "", "postgresql://db.example/m"],
    ["postgres://anna@db.example/m?sslmode=hunter2", "anna@", "postgres://db.example/m"],
    ["postgres://:hunter2@db.example/m", "", "postgres://db.example/m"],
    ["postgres://anna%3Ahunter2@db.example/m", "", "postgres://db.example/m"],
    ["postgres://anna:hunter2%23%2F%40@[::1]:5432/m", "anna@", "postgres://[::1]:5432/m"],
    ["postgres://anna:hun@ter2@db.example/m", "anna@", "postgres://db.example/m"],
    ["postgres:///memories", "", "postgres:///memories"],
  ])("is usable: %s", (address, user, place) => {
    expect([isAddress(address), isDatabaseUrl(address)]).toEqual([true, true]);
    expect(databasePlace(address)).toBe(place);
    expect(shownPlace(address)).toBe(place.replace("://", `://${user}`));
  });

  test("is shown for a command with its user and its TLS, without other parameters", () => {
    const address = `postgres://anna:${SECRET}@db.example/m?sslmode=require&password=${SECRET}`;
    expect(shownPlace(address)).toBe("postgres://anna@db.example/m?sslmode=require");
    expect(databasePlace(address)).toBe("postgres://db.example/m");
  });

  test.each([
    [`postgres://anna:${SECRET}#1@db.example/m`, "%23"],
    [`postgres://anna:12#${SECRET}@db.example/m`, "%23"],
    [`postgres://anna:12/${SECRET}@db.example/m`, "before the last @"],
    [`postgres://anna:12?${SECRET}@db.example/m`, "before the last @"],
    [`postgres://anna:${SECRET}%@db.example/m`, "a % that"],
    [`postgres://anna:${SECRET}@db.example/m%zz`, "a % that"],
    [`postgres://anna%00:${SECRET}@db.example/m`, "a % that"],
    [`postgres://anna:${SECRET}@db.example:99999/m`, "port"],
    [`postgres://anna:${SECRET}@db example/m`, "host"],
    [`postgres://anna:${SECRET}\n@db.example/m`, "control character"],
    [`postgres:/anna:${SECRET}@db.example/m`, "postgres://"],
    [`postgres:anna:${SECRET}@db.example/m`, "postgres://"],
    [` postgres://anna:${SECRET}@db.example/m`, "postgres://"],
    [`"postgres://anna:${SECRET}@db.example/m"`, "postgres://"],
    [`'postgres:anna:${SECRET}@db.example/m'`, "postgres://"],
    [`SVC_DATABASE_URL=postgres://anna:${SECRET}@db.example/m`, "postgres://"],
    [`./postgres://anna:${SECRET}@db.example/m`, "postgres://"],
    [`\u201cpostgres://anna:${SECRET}@db.example/m\u201d`, "postgres://"],
    [`"host=db.example user=anna password=${SECRET}"`, "postgres://"],
    [`mysql://anna:${SECRET}@db.example/m`, "postgres://"],
    [`jdbc:postgresql://db.example/m?user=anna&password=${SECRET}`, "postgres://"],
    [`host=db.example user=anna password=${SECRET} dbname=m`, "postgres://"],
    [`https://anna:${SECRET}@db.example/m`, "postgres://"],
    [`file:///home/anna/${SECRET}.pack`, "postgres://"],
  ])("is refused without what it says: %j", (address, reason) => {
    expect([isAddress(address), isDatabaseUrl(address)]).toEqual([true, false]);
    expect(databaseUrlProblem(address)).toContain(reason);
    expect(shownPlace(address)).toBe("the database");
    const error = unusableAddress(address);
    expect(error).toMatchObject({ code: "invalid_config", data: { setting: "database_url" } });
    expect(() => pathArgument("file", address)).toThrow("a path is needed");
    for (const text of [error.message, String(databaseUrlProblem(address))]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain("anna");
    }
  });

  test.each([
    "./memory.pack",
    "/home/anna/memory.pack",
    "C:/Users/anna/memory.pack",
    "C:\\Users\\anna\\memory.pack",
    "notes:2024/memory.pack",
    "./postgres:old.pack",
    "user=anna/memory.pack",
    "a@b:c/memory.pack",
    "",
  ])("is not what this path is taken for: %j", (path) => {
    expect(isAddress(path)).toBeFalse();
    expect(shownPlace(path)).toBe(path);
    expect(pathArgument("file", path)).toBe(path);
  });
});
