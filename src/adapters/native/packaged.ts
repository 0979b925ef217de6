/** The folder of the npm package that carries compiled libraries, below that of the project. `scripts/build-library.ts` fills it. */
export const PACKAGED_LIBRARIES = "dist/lib/native";
