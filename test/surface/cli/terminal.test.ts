import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { askSecret, confirm, type Terminal } from "../../../src/surface/cli/terminal.ts";
import { describeOnTerminal, onTerminal } from "./on-terminal.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each session starts the program, and passphrases take their time.
setDefaultTimeout(120_000);

const PASSPHRASE = "open sesame, said Ali";

type Typist = Terminal & { readonly shown: string[]; readonly modes: boolean[] };

/** A terminal on which these pieces are typed, one after the other. */
function typist(pieces: readonly string[]): Typist {
  const shown: string[] = [];
  const modes: boolean[] = [];
  const waiting = [...pieces];
  const type = (listener: (chunk: string) => void): void => {
    queueMicrotask(() => {
      const piece = waiting.shift();
      if (piece === undefined) return;
      listener(piece);
      type(listener);
    });
  };
  return {
    shown,
    modes,
    ahead: "",
    input: {
      setRawMode: (isRaw) => modes.push(isRaw),
      on: (_event, listener) => type(listener),
      off: () => waiting.splice(0),
      setEncoding: () => {},
      resume: () => {},
      pause: () => {},
    },
    output: { write: (text) => shown.push(text) },
    interrupt: () => {
      throw new Error("interrupted");
    },
  };
}

describe("a question", () => {
  test.each([
    { name: "a line", pieces: ["secret\r"], answer: "secret" },
    { name: "a line in pieces", pieces: ["se", "cre", "t", "\n"], answer: "secret" },
    { name: "erased characters", pieces: ["sx\u007fe\b", "ecret😀\u007f\r"], answer: "secret" },
    { name: "nothing", pieces: ["\r"], answer: "" },
    { name: "more erased than typed", pieces: ["a\b\b\bb\r"], answer: "b" },
  ])("reads $name without showing it", async ({ pieces, answer }) => {
    const terminal = typist(pieces);
    expect(await askSecret("Key: ", terminal)).toBe(answer);
    expect(terminal.shown).toEqual(["Key: ", "\n"]);
    expect(terminal.modes).toEqual([true, false]);
  });

  test("leaves what was typed ahead to the next one", async () => {
    const terminal = typist(["one\rtwo\r"]);
    expect(await askSecret("A: ", terminal)).toBe("one");
    expect(await askSecret("B: ", terminal)).toBe("two");
  });

  test("gives the terminal back when it is interrupted", async () => {
    const terminal = typist(["sec\u0003"]);
    terminal.input.on = (_event, listener) => listener("sec\u0003");
    expect(askSecret("Key: ", terminal)).rejects.toThrow("interrupted");
    await Bun.sleep(1);
    expect(terminal.modes).toContain(false);
    expect(terminal.shown.join("")).not.toContain("sec");
  });

  test.each([
    { typed: "y\r", otherwise: false, answer: true },
    { typed: "YES\r", otherwise: false, answer: true },
    { typed: "\r", otherwise: false, answer: false },
    { typed: "\r", otherwise: true, answer: true },
    { typed: "n\r", otherwise: true, answer: false },
    { typed: "maybe\r", otherwise: true, answer: false },
  ])("takes $typed for $answer", async ({ typed, otherwise, answer }) => {
    expect(await confirm("Sure?", otherwise, typist([typed]))).toBe(answer);
  });
});

describeOnTerminal("on a terminal", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = createWordDesk();
    const made = await onTerminal(
      desk.folder,
      ["init", "spoken.pack"],
      [
        ["Passphrase", `${PASSPHRASE}\r`],
        ["Once more", "another\r"],
        ["Passphrase", `${PASSPHRASE}\r`],
        ["Once more", `${PASSPHRASE}\r`],
        ["Keep its key", "n\r"],
        ["language model?", "\r"],
      ],
    );
    expect(made).toMatchObject({ code: 0 });
    expect(made.screen).toContain("The two differ");
    expect(made.screen).not.toContain(PASSPHRASE);
  });
  afterAll(() => desk.remove());

  test("init keeps no key unless it is wanted", () => {
    expect(readdirSync(desk.folder).toSorted()).toEqual([".config", "spoken.pack"]);
    // Where the pack is, and no key.
    expect(readdirSync(join(desk.folder, ".config/svc"))).toEqual(["pack"]);
  });

  test("a command asks for the passphrase, again when it was wrong", async () => {
    const { code, screen } = await onTerminal(
      desk.folder,
      ["info", "spoken.pack"],
      [
        ["Key or passphrase", "wrong\r"],
        ["That does not open it", `${PASSPHRASE}\r`],
      ],
    );
    expect(code).toBe(0);
    expect(screen).toContain("AES-256-GCM");
    expect(screen).not.toMatch(/wrong|sesame/);
  });

  test("three wrong ones are enough", async () => {
    const { code, screen } = await onTerminal(
      desk.folder,
      ["info", "spoken.pack"],
      [
        ["Key or passphrase", "wrong\r"],
        ["That does not open it", "\r"],
        ["That does not open it", "raw_key\r"],
      ],
    );
    expect(code).toBe(2);
    expect(screen).toContain("nothing was changed");
  });

  test("forget shows what it means and asks", async () => {
    await desk.run(["init", "erased.pack", "--plain"]);
    const { stdout } = await desk.run(["store", "erased.pack", "my loan", "--format", "json"]);
    const { node_id } = JSON.parse(stdout);
    const asked = (answer: string) =>
      onTerminal(desk.folder, ["forget", "erased.pack", node_id], [["[y/N] ", `${answer}\r`]]);
    expect((await asked("")).screen).toMatch(/my loan[\s\S]*Nothing was changed/);
    expect((await asked("y")).screen).toContain("Forgotten: 1 memory");
    expect((await desk.run(["list", "erased.pack"])).stdout).not.toContain("my loan");
  });

  test("Ctrl-C at a question ends the command", async () => {
    const { code } = await onTerminal(
      desk.folder,
      ["info", "spoken.pack"],
      [["Key or passphrase", "abc\u0003"]],
    );
    expect(code).toBe(130);
  });

  test("Enter alone makes a key and keeps it; forgetting it asks first", async () => {
    const made = await onTerminal(
      desk.folder,
      ["init", "made.pack"],
      [
        ["Passphrase", "\r"],
        ["language model?", "\r"],
      ],
    );
    expect(made.screen).toContain("Its key is kept in ");
    const kept = join(desk.folder, ".config/svc/keys");
    expect(readdirSync(kept)).toHaveLength(1);
    const question = "Remove it from this machine?";
    await onTerminal(desk.folder, ["key", "forget", "made.pack"], [[question, "\r"]]);
    expect(readdirSync(kept)).toHaveLength(1);
    await onTerminal(desk.folder, ["key", "forget", "made.pack"], [[question, "y\r"]]);
    expect(readdirSync(kept)).toEqual([]);
  });

  test("a key of the passphrase that is kept opens the pack for those who cannot ask", async () => {
    const question = "Key or passphrase";
    const turns = [[question, `${PASSPHRASE}\r`]] as const;
    const args = ["key", "import", "spoken.pack"];
    expect((await onTerminal(desk.folder, args, turns)).code).toBe(0);
    expect((await desk.run(["info", "spoken.pack"])).code).toBe(0);
    expect((await desk.run(["key", "forget", "spoken.pack", "--yes"])).code).toBe(0);
    expect((await desk.run(["info", "spoken.pack"])).code).toBe(2);
  });

  test("a weak passphrase is told before it is typed again, and rekey offers to keep the key", async () => {
    await desk.run(["init", "weak.pack"]);
    const { screen } = await onTerminal(
      desk.folder,
      ["rekey", "weak.pack"],
      [
        ["New key or passphrase", "sesame\r"],
        ["Once more", "sesame\r"],
        ["Keep its key", "y\r"],
      ],
    );
    expect(screen.indexOf("is weak")).toBeGreaterThan(0);
    expect(screen.indexOf("is weak")).toBeLessThan(screen.indexOf("Once more"));
    expect((await desk.run(["info", "weak.pack"])).code).toBe(0);
  });
});
