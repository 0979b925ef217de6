/** Text that is markup already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | undefined | readonly Markup[];

/** Markup in which every value that is not Markup is escaped; undefined is left out. */
export function html(parts: TemplateStringsArray, ...values: readonly Part[]): Markup {
  const texts = parts.map((part, index) => part + toMarkup(values[index]));
  return new Markup(texts.join(""));
}

/** Markup joined with a separator. */
export function joined(list: readonly Markup[], between: string): Markup {
  return new Markup(list.map(({ text }) => text).join(escaped(between)));
}

/** A boolean attribute, for the inside of a tag. */
export function flag(name: string, isSet: boolean): Markup {
  return new Markup(isSet ? ` ${name}` : "");
}

function toMarkup(value: Part): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escaped(String(value));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
