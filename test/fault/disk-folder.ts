import { tmpdir } from "node:os";

/** Where the packs of these tests live: on a disk, also when `npm test` keeps those of other tests in memory. */
export const DISK = process.env["TMPDIR_ON_DISK"] ?? tmpdir();
