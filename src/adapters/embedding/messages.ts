import type { EmbeddingModel } from "../../domain/embedding-models.ts";

/** What the embedder sends to its worker. `start` comes first, once. */
export type ToWorker =
  | {
      readonly kind: "start";
      readonly cacheDir: string;
      readonly model: EmbeddingModel;
      readonly threads: number;
      readonly maxTokens: number;
      /** Folder with the model's files; absent: the ones shipped with the program. */
      readonly modelRoot?: string | undefined;
    }
  | { readonly kind: "embed"; readonly id: number; readonly text: string };

/** What the worker answers, once for each `embed`. `reason` never holds the text. */
export type FromWorker =
  | { readonly kind: "vector"; readonly id: number; readonly vector: Float32Array }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string };
