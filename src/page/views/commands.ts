/** The commands in a finding: each follows a colon, up to the end or a semicolon outside quotes. */
export function commandsIn(message: string): readonly string[] {
  return [...message.matchAll(/: ((?:svc|chmod) (?:'[^']*'|\\.|[^;'\\])+)/g)].map(
    ([, command = ""]) => command.trim(),
  );
}
