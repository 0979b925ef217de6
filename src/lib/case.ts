export type CamelCase<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : S;

/** An object with its names in camel case. */
export type Camel<T> = {
  [K in keyof T as K extends string ? CamelCase<K> : never]: T[K];
};

/** Without the members that are null or undefined. */
export function given<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  // SAFETY: the members are those of the value, less those that are null or undefined.
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The same members with their names in camel case; values stay as they are. */
export function camelKeys<T extends object>(value: T): Camel<T> {
  // SAFETY: the names are changed as the type says.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [camelCase(name), inner]),
  ) as Camel<T>;
}

/** A name in snake case. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
