type Env = Readonly<Record<string, string>>;

export type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** Runs a command in the C locale and waits for its end. A command that is not there ends like one that failed. */
export async function run(
  command: readonly string[],
  options: { readonly cwd?: string; readonly limitMs?: number; readonly env?: Env } = {},
): Promise<Ran> {
  if (Bun.which(command[0] ?? "") === null) {
    return { exitCode: 127, stdout: "", stderr: `${command[0]} is not installed` };
  }
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? process.cwd(),
    timeout: options.limitMs ?? 0,
    env: { ...process.env, ...options.env, LC_ALL: "C" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}
