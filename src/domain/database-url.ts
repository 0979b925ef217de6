/** Whether a text is the address of a server database. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
}

/** The address of a database without user, password and parameters, as errors may show it. */
export function databasePlace(url: string): string {
  if (!isDatabaseUrl(url)) return "the database";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
