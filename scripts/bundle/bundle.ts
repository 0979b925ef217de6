import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "../build/targets.ts";
import { entryPointOf, manifestOf, type Product } from "./manifest.ts";
import type { PublishedBundle } from "./server-json.ts";
import { zip } from "./zip.ts";

export type BundleInput = {
  /** Folder of the project. */
  readonly root: string;
  readonly target: Target;
  /** The program that was built for it. */
  readonly executable: string;
  /** Where the bundle is written. */
  readonly folder: string;
  /** 0 to 9; 0: nothing is compressed. Default 6. */
  readonly level?: number | undefined;
};

export type Bundle = PublishedBundle & { readonly path: string; readonly bytes: number };

/** Packs a program into a bundle that assistants install. Equal inputs give equal bytes. */
export async function writeBundle(input: BundleInput): Promise<Bundle> {
  const { root, target, executable, folder, level } = input;
  const manifest = manifestOf(await productOf(root), target);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const packed = zip(
    [
      { name: "manifest.json", bytes: Buffer.from(text), isExecutable: false },
      { name: entryPointOf(target), bytes: readFileSync(executable), isExecutable: true },
      { name: "LICENSE", bytes: readFileSync(join(root, "LICENSE")), isExecutable: false },
      { name: "NOTICE", bytes: readFileSync(join(root, "NOTICE")), isExecutable: false },
    ],
    level,
  );
  const name = `svc-${target}.mcpb`;
  const path = join(folder, name);
  writeFileSync(path, packed);
  const sha256 = new Bun.CryptoHasher("sha256").update(packed).digest("hex");
  return { name, path, sha256, bytes: packed.byteLength };
}

/** What `package.json` says of the product. */
export async function productOf(root: string): Promise<Product> {
  return await Bun.file(join(root, "package.json")).json();
}
