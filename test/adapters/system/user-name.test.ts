import { expect, test } from "bun:test";
import { systemUserName } from "../../../src/adapters/system/system.ts";

const listed = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();

test("the user of the system is named by the session, or by the list of users", () => {
  expect(systemUserName({ USER: "anna", LOGNAME: "bob" })).toBe("anna");
  expect(systemUserName({ USER: " ", LOGNAME: "bob" })).toBe("bob");
  expect(systemUserName({ USERNAME: " carl " })).toBe("carl");
  expect(systemUserName({ USER: "\ud800" })).toBe(listed);
  expect(systemUserName({})).toBe(listed);
});

test("who is in no list of users is called me", () => {
  expect(systemUserName({}, "/dev/null")).toBe("me");
  expect(systemUserName({}, "/no/such/list")).toBe("me");
});
