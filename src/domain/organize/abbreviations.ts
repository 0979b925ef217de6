import { foldCase } from "../../lib/text.ts";

/** Names that a name is short for, and the short forms of each. Two short forms of one name do not stand for each other. */
const SHORT_FORMS: Readonly<Record<string, readonly string[]>> = {
  javascript: ["js", "ecmascript"],
  typescript: ["ts"],
  python: ["py"],
  "machine learning": ["ml"],
  "artificial intelligence": ["ai"],
  "natural language processing": ["nlp"],
  "application programming interface": ["api"],
  "continuous integration": ["ci"],
  "continuous deployment": ["cd"],
  "continuous integration/continuous deployment": ["ci/cd", "cicd"],
  database: ["db"],
  postgresql: ["postgres", "pg"],
  mongodb: ["mongo"],
  kubernetes: ["k8s"],
  "amazon web services": ["aws"],
  "google cloud platform": ["gcp"],
  "microsoft azure": ["azure"],
  "operating system": ["os"],
  "user interface": ["ui"],
  "user experience": ["ux"],
  "representational state transfer": ["rest"],
  graphql: ["gql"],
  "hypertext markup language": ["html"],
  "cascading style sheets": ["css"],
  "structured query language": ["sql"],
};

const COUNTERPARTS = new Map<string, string[]>();
for (const [name, forms] of Object.entries(SHORT_FORMS)) {
  COUNTERPARTS.set(name, [...(COUNTERPARTS.get(name) ?? []), ...forms]);
  for (const form of forms) COUNTERPARTS.set(form, [...(COUNTERPARTS.get(form) ?? []), name]);
}

/** A name as names are compared: trimmed, without regard to case. */
export function nameKey(name: string): string {
  return foldCase(name.trim());
}

/** The short forms of a name, or the names that it is short for. @param key as `nameKey` gives it */
export function counterparts(key: string): readonly string[] {
  return COUNTERPARTS.get(key) ?? [];
}
