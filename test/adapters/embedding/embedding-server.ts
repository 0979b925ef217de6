/** A server for embeddings on this machine, with the wire format of the real ones. */

export type EmbeddingRequest = {
  readonly path: string;
  readonly headers: Headers;
  readonly body: {
    readonly model: string;
    readonly input: readonly string[];
    readonly dimensions?: number;
    readonly encoding_format?: string;
  };
};

/** What the server does with a request: the default, which is right vectors, or a response of its own. */
export type EmbeddingReply = (
  request: EmbeddingRequest,
) => Response | Promise<Response> | undefined;

export type EmbeddingServer = {
  readonly url: string;
  readonly received: EmbeddingRequest[];
  /** Replaces the reply to all further requests. */
  reply: EmbeddingReply;
  stop(): void;
};

/** A vector that depends on the words of a text alone: texts with words in common are alike. Not of unit length. */
export function vectorOfWords(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0.01);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const at = Bun.hash.crc32(word) % dimension;
    vector[at] = (vector[at] ?? 0) + 3;
  }
  return vector;
}

/** The answer with right vectors, in reverse order: each says which text it is of. */
export function vectorsFor({ body }: EmbeddingRequest, dimension: number): Response {
  const data = body.input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: vectorOfWords(text, dimension),
  }));
  return Response.json({ object: "list", model: body.model, data: data.reverse() });
}

/** Starts a server whose vectors have this dimension. */
export function startEmbeddingServer(dimension: number): EmbeddingServer {
  const received: EmbeddingRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      // Whether it has a model is asked without a body.
      if (request.method === "GET") return Response.json({});
      const entry = {
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: (await request.json()) as EmbeddingRequest["body"],
      };
      received.push(entry);
      return (await started.reply(entry)) ?? vectorsFor(entry, entry.body.dimensions ?? dimension);
    },
  });
  const started: EmbeddingServer = {
    url: `http://127.0.0.1:${server.port}`,
    received,
    reply: () => undefined,
    stop: () => {
      void server.stop(true);
    },
  };
  return started;
}
