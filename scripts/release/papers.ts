import type { Target } from "../build/targets.ts";
import type { Product } from "../bundle/manifest.ts";
import { NPM_NAME } from "./npm-packages.ts";

/** A file that people can download: its name and 64 hexadecimal digits. */
export type Published = { readonly name: string; readonly sha256: string };

/** Lines as `sha256sum --check` reads them, by name. */
export function checksums(files: readonly Published[]): string {
  return files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, sha256 }) => `${sha256}  ${name}\n`)
    .join("");
}

export type FormulaInput = {
  readonly product: Product;
  /** The folder of the archives on the web. */
  readonly releaseUrl: string;
  readonly archives: Readonly<Partial<Record<Target, Published>>>;
};

/** A Homebrew formula, which fetches the archive of the platform. */
export function formula({ product, releaseUrl, archives }: FormulaInput): string {
  const from = (target: Target): string[] => {
    const archive = archives[target];
    if (archive === undefined) return [];
    return [
      `      url "${releaseUrl.replace(/\/+$/, "")}/${archive.name}"`,
      `      sha256 "${archive.sha256}"`,
    ];
  };
  const on = (system: string, processor: string, target: Target): string[] => {
    const lines = from(target);
    return lines.length === 0
      ? []
      : [`  on_${system} do`, `    on_${processor} do`, ...lines, "    end", "  end", ""];
  };
  return [
    "class Svc < Formula",
    `  desc "${synopsis(product)}"`,
    `  homepage "${releaseUrl}"`,
    `  version "${product.version}"`,
    `  license "${product.license}"`,
    "",
    ...on("macos", "arm", "darwin-arm64"),
    ...on("linux", "arm", "linux-arm64"),
    ...on("linux", "intel", "linux-x64"),
    "  def install",
    '    bin.install "svc"',
    "  end",
    "",
    "  test do",
    '    assert_match version.to_s, shell_output("#{bin}/svc --version")',
    "  end",
    "end",
    "",
  ].join("\n");
}

/** The description as Homebrew and Debian want it: no article, no full stop. */
function synopsis({ description }: Product): string {
  return description
    .replace(/^An? /, "")
    .replace(/^./, (letter) => letter.toUpperCase())
    .replace(/\.$/, "");
}

/** What `dpkg` is told of the package. @param kilobytes that it takes when it is installed */
export function debianControl(product: Product, architecture: string, kilobytes: number): string {
  return [
    `Package: ${NPM_NAME}`,
    `Version: ${product.version}`,
    `Architecture: ${architecture}`,
    `Maintainer: the makers of ${product.name} <nobody@example.com>`,
    `Installed-Size: ${kilobytes}`,
    "Depends: libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1 | libgcc1",
    "Section: utils",
    "Priority: optional",
    `Description: ${synopsis(product)}`,
    " Assistants reach it as an MCP server, programs over HTTP. Everything is in one",
    " encrypted file, and no text leaves the machine.",
    "",
  ].join("\n");
}

/** How a container is built around the program for Linux, which lies beside this file as `svc`. */
export function containerFile({ description, version, license }: Product): string {
  return `FROM debian:13-slim
LABEL org.opencontainers.image.title="svc" \\
      org.opencontainers.image.description="${description}" \\
      org.opencontainers.image.version="${version}" \\
      org.opencontainers.image.licenses="${license}"
RUN groupadd --system --gid 10001 svc \\
  && useradd --system --uid 10001 --gid svc --home-dir /data svc \\
  && install -d -o svc -g svc -m 700 /data
COPY --chmod=755 svc /usr/local/bin/svc
COPY LICENSE NOTICE /usr/share/doc/svc/
USER 10001:10001
ENV HOME=/data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ${HEALTH}
ENTRYPOINT ["svc", "serve", "--db-path", "/data/memory.pack", "--host", "0.0.0.0"]
`;
}

/** Asks the server whether it runs: the image has no program that fetches. */
const HEALTH = `["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8000 && printf 'GET /v1/health HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n' >&3 && grep -q ' 200 ' <&3"]`;

/** The container with what it needs and nothing else; settings and the key are in `settings.env`. */
export const COMPOSE = `# Not tried with a container runtime.
services:
  svc:
    build: { context: ., dockerfile: Containerfile }
    env_file: settings.env
    ports: ["127.0.0.1:8000:8000"]
    volumes: ["svc-data:/data"]
    read_only: true
    tmpfs: [/tmp]
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    restart: unless-stopped
volumes:
  svc-data:
`;
