const PLAIN = /^[\w./@+:-]{1,100}$/;
const SHOWN_CHARS = 60;

/** A name in running text, on one line. A file from elsewhere may name anything, so all but plain names are quoted and cut. */
export function shownName(name: string): string {
  if (PLAIN.test(name)) return name;
  const start = name.slice(0, SHOWN_CHARS).replace(/[^ -~]/g, "?");
  return JSON.stringify(start.length < name.length ? `${start}...` : start);
}
