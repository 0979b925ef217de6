/** The public names of `svc-client/langchain`: a retriever and a chat history for LangChain.js. `docs/frameworks.md` shows their use. */
export { MemoryChatHistory, type MemoryChatHistoryInput } from "./langchain/chat-history.ts";
export {
  type MemoryDocumentMetadata,
  MemoryRetriever,
  type MemoryRetrieverInput,
} from "./langchain/retriever.ts";
export type { Memory } from "./memory.ts";
