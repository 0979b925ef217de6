import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { EmbeddingModel } from "../../src/domain/embedding-models.ts";
import { buildExecutable } from "../build/executable.ts";
import { executableName, provideRuntime, type Target } from "../build/targets.ts";
import { productOf, writeBundle } from "../bundle/bundle.ts";
import type { Product } from "../bundle/manifest.ts";
import { serverJson } from "../bundle/server-json.ts";
import { zip } from "../bundle/zip.ts";
import { type ArchiveEntry, ar, tarGz } from "./archive.ts";
import { mainPackage, NPM_NAME, platformPackage } from "./npm-packages.ts";
import {
  COMPOSE,
  checksums,
  containerFile,
  debianControl,
  formula,
  type Published,
} from "./papers.ts";
import { partsList } from "./parts-list.ts";

export type ReleaseInput = {
  /** Folder of the project. */
  readonly root: string;
  /** The folder to write, which is emptied first. */
  readonly folder: string;
  readonly targets: readonly Target[];
  /** Reverse DNS form. */
  readonly namespace: string;
  /** Where the files will be on the web. */
  readonly releaseUrl: string;
  /** 1 to 9. */
  readonly level: number;
  readonly models?: readonly EmbeddingModel[] | undefined;
  /** Makes the program of a target and says where it is. Default: builds it. */
  readonly program?: ((target: Target) => Promise<string>) | undefined;
};

/**
 * Writes everything that a release consists of. Equal inputs give equal bytes.
 * @param say receives a line for each part
 */
export async function makeRelease(input: ReleaseInput, say: (line: string) => void): Promise<void> {
  const { root, folder, targets, namespace, releaseUrl, level } = input;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "npm"), { recursive: true });
  const product = await productOf(root);
  const serverName = `${namespace}/${product.name}`;
  const papers = ["README.md", "LICENSE", "NOTICE"].map((name) => ({
    name,
    bytes: readFileSync(join(root, name)),
  }));
  const published: Published[] = [];
  const write = (name: string, bytes: Uint8Array): Published => {
    writeFileSync(join(folder, name), bytes);
    const file = { name, sha256: createHash("sha256").update(bytes).digest("hex") };
    say(`wrote ${name}, ${(bytes.byteLength / 1e6).toFixed(1)} MB`);
    published.push(file);
    return file;
  };
  const npm = { product, targets, serverName, papers };
  write(`npm/${NPM_NAME}-${product.version}.tgz`, tarGz(mainPackage(npm), level));
  const archives: Partial<Record<Target, Published>> = {};
  const bundles: Published[] = [];
  for (const target of targets) {
    const executable = await (input.program?.(target) ?? executableFor(input, target));
    const program = readFileSync(executable);
    const packed = tarGz(platformPackage(npm, target, program), level);
    write(`npm/${NPM_NAME}-${target}-${product.version}.tgz`, packed);
    archives[target] = write(...archive(product, target, program, papers, level));
    const deb = debianPackage(product, target, program, papers, level);
    if (deb !== undefined) write(...deb);
    const { name, sha256, bytes } = await writeBundle({ root, target, executable, folder, level });
    say(`wrote ${name}, ${(bytes / 1e6).toFixed(1)} MB`);
    published.push({ name, sha256 });
    bundles.push({ name, sha256 });
    if (target === "linux-x64") writeContainer(folder, executable, product, papers);
    if (input.program === undefined) rmSync(executable);
  }
  const server = serverJson(product, { namespace, releaseUrl, bundles, npmName: NPM_NAME });
  const parts = await partsList(root, product, targets);
  write("server.json", json(server));
  write("svc.cdx.json", json(parts));
  write("svc.rb", Buffer.from(formula({ product, releaseUrl, archives })));
  writeFileSync(join(folder, "SHA256SUMS"), checksums(published));
}

/** Made with the Bun of the registry, whatever machine builds. */
async function executableFor(input: ReleaseInput, target: Target): Promise<string> {
  const { root, folder, models } = input;
  const outfile = join(folder, executableName(target, false));
  const runtime = await provideRuntime(root, target);
  const main = join(root, "src/main.ts");
  await buildExecutable({ root, main, target, models, outfile, runtime });
  if (!existsSync(outfile) || statSync(outfile).size === 0)
    throw new Error(`${outfile} was not built`);
  return outfile;
}

type Named = [name: string, bytes: Uint8Array];
type Papers = readonly ArchiveEntry[];

function archive(
  product: Product,
  target: Target,
  program: Buffer,
  papers: Papers,
  level: number,
): Named {
  const name = `svc-${product.version}-${target}`;
  if (target.startsWith("windows")) {
    const files = [{ name: "svc.exe", bytes: program }, ...papers];
    const entries = files.map(({ name: path, bytes }) => ({
      name: `${name}/${path}`,
      bytes: new Uint8Array(bytes),
      isExecutable: path === "svc.exe",
    }));
    return [`${name}.zip`, zip(entries, level)];
  }
  const files = [{ name: "svc", bytes: program, isExecutable: true }, ...papers];
  return [
    `${name}.tar.gz`,
    tarGz(
      files.map((file) => ({ ...file, name: `${name}/${file.name}` })),
      level,
    ),
  ];
}

function debianPackage(
  product: Product,
  target: Target,
  program: Buffer,
  papers: Papers,
  level: number,
): Named | undefined {
  const architecture = { "linux-x64": "amd64", "linux-arm64": "arm64" }[String(target)];
  if (architecture === undefined) return undefined;
  const nothing = new Uint8Array();
  const doc = `./usr/share/doc/${NPM_NAME}/`;
  const folders = ["./", "./usr/", "./usr/bin/", "./usr/share/", "./usr/share/doc/", doc];
  const [, license, notice] = papers;
  const data = [
    ...folders.map((name) => ({ name, bytes: nothing })),
    { name: "./usr/bin/svc", bytes: program, isExecutable: true },
    { name: `${doc}copyright`, bytes: license?.bytes ?? nothing },
    { name: `${doc}NOTICE`, bytes: notice?.bytes ?? nothing },
  ];
  const kilobytes = Math.ceil(program.byteLength / 1024);
  const control = debianControl(product, architecture, kilobytes);
  return [
    `${NPM_NAME}_${product.version}_${architecture}.deb`,
    ar([
      { name: "debian-binary", bytes: Buffer.from("2.0\n") },
      {
        name: "control.tar.gz",
        bytes: tarGz([{ name: "./control", bytes: Buffer.from(control) }], level),
      },
      { name: "data.tar.gz", bytes: tarGz(data, level) },
    ]),
  ];
}

/** A folder from which a container is built without anything else. */
function writeContainer(
  folder: string,
  executable: string,
  product: Product,
  papers: Papers,
): void {
  const place = join(folder, "container");
  mkdirSync(place);
  copyFileSync(executable, join(place, "svc"));
  writeFileSync(join(place, "Containerfile"), containerFile(product));
  writeFileSync(join(place, "compose.yaml"), COMPOSE);
  for (const { name, bytes } of papers) writeFileSync(join(place, name), bytes);
}

function json(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}
