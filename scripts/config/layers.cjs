/**
 * The layer rules of ARCHITECTURE.md, as errors.
 * @type {import("dependency-cruiser").IConfiguration}
 */
const may = (layer, allowed) => ({
  name: `${layer}-may-import-only-[${allowed.join(",")}]`,
  severity: "error",
  from: { path: `^src/${layer}/` },
  to: { path: "^src/", pathNot: `^src/(${[layer, ...allowed].join("|")})/` },
});

/** Inside src/engine: capability -> sibling capabilities it may import. */
const CAPABILITIES = {
  write: [],
  extract: [],
  inspect: [],
  browse: [],
  retrieve: [],
  organize: ["lifecycle", "write"],
  verify: [],
  receipts: [],
  lifecycle: [],
  aggregate: [],
  owners: [],
};

const capability = ([name, siblings]) => ({
  name: `engine-${name}-siblings`,
  severity: "error",
  from: { path: `^src/engine/${name}/` },
  to: {
    path: "^src/engine/[^/]+/",
    pathNot: `^src/engine/((${[name, ...siblings].join("|")})/|[^/]+/api\\.ts$)`,
  },
});

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^bun(:|$)" },
    },
    may("lib", []),
    may("domain", ["lib"]),
    may("config", ["lib", "domain"]),
    may("ports", ["lib", "domain"]),
    may("engine", ["lib", "domain", "ports"]),
    may("adapters", ["lib", "domain", "ports"]),
    {
      name: "surface-may-import-only-[lib,domain,config,engine]",
      severity: "error",
      from: { path: "^src/surface/", pathNot: "^src/surface/cli/" },
      to: { path: "^src/", pathNot: "^src/(surface|lib|domain|config|engine)/" },
    },
    {
      name: "cli-may-import-only-[lib,domain,config,engine,app,packs,assistants,doctor]",
      severity: "error",
      from: { path: "^src/surface/cli/" },
      to: {
        path: "^src/",
        pathNot: "^src/(surface|lib|domain|config|engine|app|packs|assistants|doctor)/",
      },
    },
    may("app", ["lib", "domain", "config", "ports", "engine", "adapters"]),
    may("packs", ["lib", "domain", "config", "ports", "engine", "adapters", "app"]),
    may("assistants", ["lib", "domain", "config", "ports", "engine", "adapters", "app", "packs"]),
    may("doctor", [
      "lib",
      "domain",
      "config",
      "ports",
      "engine",
      "adapters",
      "app",
      "packs",
      "assistants",
    ]),
    {
      name: "a-process-is-started-by-main-alone",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main\\.ts|process/)" },
      to: { path: "^src/process/" },
    },
    {
      name: "library-may-import-only-[app,config,domain,engine,lib,ports]",
      severity: "error",
      from: { path: "^src/library\\.ts$" },
      to: {
        path: "^src/",
        pathNot: "^src/((app|config|domain|engine|lib|ports)/|http-library\\.ts$)",
      },
    },
    {
      name: "the-library-serves-http-alone",
      severity: "error",
      from: { path: "^src/http-library\\.ts$" },
      to: {
        path: "^src/",
        pathNot:
          "^src/(app/version\\.ts|engine/memory-engine\\.ts|surface/http/(app|server)\\.ts)$",
      },
    },
    {
      name: "outside-sees-only-the-engine-facade",
      severity: "error",
      from: { path: "^src/(surface|app|packs|doctor|assistants|process)/" },
      to: { path: "^src/engine/[^/]+/", pathNot: "^src/engine/[^/]+/api\\.ts$" },
    },
    {
      name: "adapters-are-strangers",
      severity: "error",
      from: { path: "^src/adapters/([^/]+)/" },
      to: { path: "^src/adapters/", pathNot: "^src/adapters/($1|native|crypt|stemming)/" },
    },
    {
      name: "inner-layers-have-no-io",
      severity: "error",
      from: { path: "^src/(lib|domain|ports|engine)/" },
      // Built-in modules are named without `node:` here, so their names alone would be an endless list.
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "inner-layers-have-no-runtime",
      severity: "error",
      from: { path: "^src/(lib|domain|ports|engine)/" },
      to: { path: "^bun(:|$)|node_modules/bun-types" },
    },
    {
      name: "inner-layers-have-no-packages",
      severity: "error",
      from: { path: "^src/(lib|domain|ports|engine)/" },
      to: { path: "node_modules" },
    },
    {
      name: "surfaces-do-not-meet",
      severity: "error",
      from: { path: "^src/surface/([^/]+)/" },
      to: { path: "^src/surface/", pathNot: "^src/surface/($1|contract|listener)/" },
    },
    {
      name: "the-contract-knows-no-surface",
      severity: "error",
      from: { path: "^src/surface/contract/" },
      to: { path: "^src/surface/", pathNot: "^src/surface/contract/" },
    },
    {
      name: "the-environment-has-one-reader",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main\\.ts|config/|app/|packs/|surface/cli/)" },
      to: { path: "^src/config/load\\.ts$" },
    },
    {
      name: "src-stands-alone",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|scripts)/|^src/(main|library)\\.ts$" },
    },
    ...Object.entries(CAPABILITIES).map(capability),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["bun", "import", "default", "types"],
    },
  },
};
