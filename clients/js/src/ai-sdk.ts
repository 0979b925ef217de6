/** The public names of `svc-client/ai-sdk`: tools and a middleware for the AI SDK. `docs/frameworks.md` shows their use. */
export type { MemoryFailure, OnMemoryFailure } from "./ai-sdk/failure.ts";
export { type MemoryMiddlewareOptions, memoryMiddleware } from "./ai-sdk/middleware.ts";
export { type MemoryToolsOptions, memoryTools } from "./ai-sdk/tools.ts";
export type { Memory } from "./memory.ts";
