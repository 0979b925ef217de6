import manifest from "../../package.json" with { type: "json" };

/** The version of this program, for example `1.4.0`. */
export const VERSION: string = manifest.version;
