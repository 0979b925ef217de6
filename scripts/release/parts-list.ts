import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "../build/native/record.ts";
import { PAGE_PACKAGES } from "../build/page.ts";
import { nativeFiles, TARGETS, type Target } from "../build/targets.ts";
import type { Product } from "../bundle/manifest.ts";

type Hash = { readonly alg: "SHA-256" | "SHA-512"; readonly content: string };

/** A part, as CycloneDX 1.6 describes it. */
type Component = {
  readonly type: "library" | "application" | "file" | "platform";
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly hashes?: readonly Hash[];
  readonly licenses?: readonly { readonly expression: string }[];
};

export type PartsList = {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
};

/** Source that is compiled into our own libraries. */
const COMPILED: readonly Component[] = [
  { type: "library", name: "openssl", version: "4.0.3", licenses: [{ expression: "Apache-2.0" }] },
  { type: "library", name: "sqlite", version: "3.54.1", licenses: [{ expression: "blessing" }] },
];

/**
 * What the executables are made of: the packages that the program imports, by `bun.lock`, the runtime, and every native file with
 * its digest. Equal inputs give equal lists; there is no serial number and no time in it.
 */
export async function partsList(
  root: string,
  product: Product,
  targets: readonly Target[] = TARGETS,
): Promise<PartsList> {
  const files = new Map<string, Component>();
  for (const target of targets) {
    for (const { source, name, group } of await nativeFiles(root, target)) {
      const content = sha256Of(readFileSync(source));
      const hashes: Hash[] = [{ alg: "SHA-256", content }];
      files.set(content, { type: "file", name: `${target}/${name}`, version: group, hashes });
    }
  }
  const licenses = [{ expression: product.license }];
  const { name, version } = product;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", name, version, licenses } },
    components: [
      { type: "platform", name: "bun", version: Bun.version, purl: `pkg:npm/bun@${Bun.version}` },
      ...COMPILED,
      ...packagesOf(root),
      ...files.values(),
    ],
  };
}

type Locked = readonly [string, string, Relations, string?];
type Relations = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** The packages that the program depends on, and those that these do, as far as they are installed. */
function packagesOf(root: string): readonly Component[] {
  const text = readFileSync(join(root, "bun.lock"), "utf8");
  // The lockfile is JSON but for a comma after the last entry of each list.
  const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    text.replace(/,(\s*[}\]])/g, "$1"),
  );
  const manifest: Relations = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const found = new Map<string, Component>();
  const visit = (key: string): void => {
    const locked = packages[key];
    if (locked === undefined || found.has(key)) return;
    found.set(key, componentOf(root, key, locked));
    for (const name of Object.keys({
      ...locked[2].dependencies,
      ...locked[2].optionalDependencies,
    })) {
      visit(packages[`${key}/${name}`] === undefined ? name : `${key}/${name}`);
    }
  };
  for (const name of [...Object.keys(manifest.dependencies ?? {}), ...PAGE_PACKAGES]) visit(name);
  return [...found.values()].toSorted((a, b) =>
    `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1,
  );
}

function componentOf(root: string, key: string, [id, , , integrity = ""]: Locked): Component {
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  const expression = licenseOf(root, key);
  return {
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...(content === "" ? {} : { hashes: [{ alg: "SHA-512", content }] }),
    ...(expression === undefined ? {} : { licenses: [{ expression }] }),
  };
}

/** What the package says of itself; undefined for one of another platform, which is not installed. */
function licenseOf(root: string, key: string): string | undefined {
  const path = join(
    root,
    "node_modules",
    key.replaceAll("/", "/node_modules/").replace(/(@[^/]+)\/node_modules\//g, "$1/"),
    "package.json",
  );
  if (!existsSync(path)) return undefined;
  const { license }: { readonly license?: unknown } = JSON.parse(readFileSync(path, "utf8"));
  return typeof license === "string" ? license : undefined;
}
