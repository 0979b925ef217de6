import type { Shape, View } from "../../../lib/form.ts";
import type { Json } from "../../../lib/json.ts";

/** By notes or else by shape, as schemas are kept: a name must not refer to two forms. */
const made = new WeakMap<object, View<never>>();

/** The same form without the members that are null: a model pays for each. */
export function lean<T>(form: View<T>): View<T> {
  const key = form.notes ?? form.shape;
  // SAFETY: what is kept under a form is made of it.
  const known = made.get(key) as View<T> | undefined;
  if (known !== undefined) return known;
  const { id } = form.notes ?? {};
  const own: View<T> = {
    ...form,
    shape: leanShape(form.shape),
    json: (value) => withoutNulls(form.shape, form.json(value)),
    ...(form.notes && { notes: { ...form.notes, ...(id !== undefined && { id: `Lean${id}` }) } }),
  };
  made.set(key, own);
  return own;
}

function leanShape(shape: Shape): Shape {
  switch (shape.kind) {
    case "nullable":
    case "omitted":
    case "dictionary":
    case "list":
      return { ...shape, of: lean(shape.of) };
    case "object":
      return {
        ...shape,
        members: shape.members
          .filter(({ form }) => form.shape.kind !== "null")
          .map((member) => ({ ...member, form: omittedOf(lean(member.form)) })),
      };
    default:
      return shape;
  }
}

function omittedOf(form: View<never>): View<never> {
  const { shape } = form;
  return shape.kind === "nullable" ? { ...form, shape: { kind: "omitted", of: shape.of } } : form;
}

/** JSON of this shape without the members that are null. Free JSON is kept as it is. */
export function withoutNulls(shape: Shape, value: Json): Json {
  if (value === null) return value;
  switch (shape.kind) {
    case "nullable":
    case "omitted":
      return withoutNulls(shape.of.shape, value);
    case "list":
      return Array.isArray(value) ? value.map((one) => withoutNulls(shape.of.shape, one)) : value;
    case "dictionary":
      return mapped(value, () => shape.of.shape);
    case "object":
      return mapped(value, (name) => shape.members.find((one) => one.name === name)?.form.shape);
    default:
      return value;
  }
}

function mapped(value: Json, shapeOf: (name: string) => Shape | undefined): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, own]) => {
      const shape = shapeOf(name);
      if (own === null || own === undefined) return [];
      return [[name, shape === undefined ? own : withoutNulls(shape, own)] as const];
    }),
  );
}
