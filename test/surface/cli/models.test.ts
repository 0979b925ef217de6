import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

// Each test starts the program several times.
setDefaultTimeout(120_000);

const ENGLISH = "BAAI/bge-small-en-v1.5";
const MULTILINGUAL = "intfloat/multilingual-e5-small";

let desk: Desk;
beforeAll(() => {
  desk = createDesk();
});
afterAll(() => desk.remove());

async function modelOf(pack: string): Promise<string> {
  const { stdout } = await desk.run(["info", pack, "--format", "json"]);
  return JSON.parse(stdout).manifest.embedding_model;
}

describe("a new pack", () => {
  test("gets the English model on an English system, without a word about it", async () => {
    const { stdout } = await desk.run(["init", "en.pack", "--plain"], {
      env: { LANG: "en_US.UTF-8" },
    });
    expect(stdout).not.toContain("embedding model");
    expect(await modelOf("en.pack")).toBe(ENGLISH);
  });

  test("gets the multilingual model where the system speaks another language, and init says so", async () => {
    const { stdout } = await desk.run(["init", "de.pack", "--plain"], {
      env: { LANG: "de_DE.UTF-8" },
    });
    expect(stdout).toContain(
      `Its embedding model is ${MULTILINGUAL} (about 100 languages), since the language of the system is de.\n`,
    );
    expect(await modelOf("de.pack")).toBe(MULTILINGUAL);
  });
  test.each([
    ["--model", ["--model", "english"], {}, ENGLISH],
    ["the setting", [], { SVC_EMBEDDING_MODEL_NAME: ENGLISH }, ENGLISH],
    [
      "--model before the setting",
      ["--model", MULTILINGUAL],
      { SVC_EMBEDDING_MODEL_NAME: ENGLISH },
      MULTILINGUAL,
    ],
  ])(
    "gets the model that %s names, whatever the system speaks",
    async (by, args, settings, model) => {
      const pack = `by-${by.replaceAll(" ", "-")}.pack`;
      const env = { LANG: "de_DE.UTF-8", ...settings };
      expect((await desk.run(["init", pack, "--plain", ...args], { env })).code).toBe(0);
      expect(await modelOf(pack)).toBe(model);
    },
  );

  test("is not made with a model that there is not", async () => {
    const { code, stderr } = await desk.run(["init", "no.pack", "--model", "klingon"]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'Error: --model: "klingon" is no embedding model of svc; name english or multilingual, a folder (/path or ./path) or owner/name of a model on the hub, or set embedding.provider\n',
    );
  });
});

describe("a pack", () => {
  test("keeps its model when the settings name another, until a rebuild changes it", async () => {
    await desk.run(["init", "kept.pack", "--plain"]);
    await desk.store(
      "kept.pack",
      SYSTEM_USER,
      "Our dog Coco is afraid of fireworks",
      "Rent is due on the first",
    );
    const env = { SVC_EMBEDDING_MODEL_NAME: "multilingual" };
    const search = await desk.run(["search", "kept.pack", "dog"], { env });
    expect(search.stderr).toContain(`the pack keeps its embedding model ${ENGLISH}`);
    expect(search.stderr).not.toContain("VECTOR");

    const rebuilt = await desk.run(["rebuild", "kept.pack", "--model", "multilingual"]);

    expect(rebuilt).toMatchObject({ code: 0, stderr: "" });
    expect(await modelOf("kept.pack")).toBe(MULTILINGUAL);
    const asked = ["search", "kept.pack", "Wovor hat unser Hund Angst?", "--format", "json"];
    const { results } = JSON.parse((await desk.run(asked)).stdout);
    expect(results[0].content).toBe("Our dog Coco is afraid of fireworks");
    await desk.run(["export", "kept.pack", "--output", "kept.jsonl"]);
    await desk.run(["import", "kept.jsonl", "copied.pack", "--plain"]);
    expect(await modelOf("copied.pack")).toBe(MULTILINGUAL);
  });

  test("with a change of model that was cut off says so, and a plain rebuild finishes it", async () => {
    await desk.run(["init", "cut.pack", "--plain"]);
    const database = new Database(join(desk.folder, "cut.pack"));
    database.run(
      "INSERT INTO pack_settings SELECT 'rebuild', json_object('embedding', json_object('model', ?, 'version', 'any', 'dimension', 384), 'replaces', json('true'), 'texts', json_object('key', 0))",
      [MULTILINGUAL],
    );
    database.close();
    const told = /change to intfloat\/multilingual-e5-small begun, finish it with: svc rebuild/;
    expect((await desk.run(["info", "cut.pack"])).stdout).toMatch(told);
    expect((await desk.run(["doctor", "cut.pack"])).stdout).toMatch(
      /\[WARN\] embedding: .*a rebuild with intfloat\/multilingual-e5-small was begun/,
    );
    expect((await desk.run(["rebuild", "cut.pack"])).code).toBe(0);
    expect(await modelOf("cut.pack")).toBe(MULTILINGUAL);
    expect((await desk.run(["info", "cut.pack"])).stdout).not.toContain("begun");
  });

  test("of a model that this program lacks is read, searched by words, and described", async () => {
    await desk.run(["init", "alien.pack", "--plain"]);
    await desk.store("alien.pack", SYSTEM_USER, "The spare key lies under the flower pot");
    const database = new Database(join(desk.folder, "alien.pack"));
    database.run("UPDATE pack_manifest SET embedding_model = 'acme/later-model'");
    database.close();
    const lacks = "this program lacks the embedding model of what is stored, acme/later-model";
    const search = await desk.run(["search", "alien.pack", "spare key pot", "--format", "json"]);
    expect(JSON.parse(search.stdout).results[0].content).toContain("flower pot");
    expect(search.stderr).toContain(lacks);
    expect(search.stderr).toContain("VECTOR did not answer (embedding_mismatch)");
    expect((await desk.run(["info", "alien.pack"])).stdout).toContain(
      "acme/later-model (384), which this program lacks: memories are found by words only",
    );
    expect((await desk.run(["doctor", "alien.pack"])).stdout).toContain(lacks);
    expect((await desk.run(["list", "alien.pack"])).stdout).toContain("flower pot");

    expect((await desk.run(["rebuild", "alien.pack", "--model", "english"])).code).toBe(0);
    expect(await modelOf("alien.pack")).toBe(ENGLISH);
  });

  test("that names its model with control characters, or at length, steers no terminal", async () => {
    await desk.run(["init", "forged.pack", "--plain"]);
    const database = new Database(join(desk.folder, "forged.pack"));
    const forged = `\u001b[2J\n\u202e${"x".repeat(100_000)}`;
    for (const column of ["embedding_model", "embedding_version", "software_version"]) {
      database.run(`UPDATE pack_manifest SET ${column} = ?`, [forged]);
    }
    database.run(
      "INSERT INTO pack_settings SELECT 'rebuild', json_object('embedding', json_object('model', ?, 'version', 'any', 'dimension', 384), 'replaces', json('true'), 'texts', json_object('key', 0))",
      [forged],
    );
    database.close();
    const shown = `"?[2J??${"x".repeat(54)}..."`;
    for (const args of [["doctor"], ["info"], ["search", "key"]]) {
      const [command = "", ...more] = args;
      const { stdout, stderr } = await desk.run([command, "forged.pack", ...more]);
      expect(`${stdout}${stderr}`).toContain(shown);
      expect(stdout.length + stderr.length).toBeLessThan(5000);
      expect(`${stdout}${stderr}`).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
    }
  });
});
