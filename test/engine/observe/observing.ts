import { afterEach } from "bun:test";
import { createVisionModel } from "../../../src/adapters/language-model/create-language-model.ts";
import type { ObservationSettings } from "../../../src/engine/observe/api.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { Footage, FootageReader, SampledFrame } from "../../../src/ports/footage.ts";
import {
  type ProviderServer,
  type Received,
  type Reply,
  startProvider,
} from "../../adapters/language-model/provider-server.ts";
import { DEFAULT_SETTINGS, type EngineOptions, useEngines } from "../engines.ts";

/** When every source was taken. */
export const TAKEN = asInstant("2026-03-01T10:00:00.000000Z");

/** A source: what each frame shows; one that is null is not kept. A name that ends in .mp4 is a video of one frame a second. */
export type Film = Readonly<Record<string, readonly (string | null)[]>>;

/** What the server says of a picture; by default the text that the picture shows. */
export type Describing = (shown: string, received: Received) => Reply;

/**
 * Engines that observe made-up sources, whose pictures are texts, described by a vision server over HTTP. The reader of real files has
 * tests of its own.
 */
export function useObserving() {
  const { open, newPack } = useEngines();
  const servers: ProviderServer[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.stop();
  });
  const observing = async (
    film: Film,
    {
      describing = (shown) => shown,
      settings = {},
      ...options
    }: EngineOptions & {
      readonly describing?: Describing;
      readonly observation?: Partial<ObservationSettings>;
    } = {},
  ) => {
    const asked: string[] = [];
    const server = startProvider("openai", [
      async (received) => {
        const shown = shownIn(received);
        asked.push(shown);
        return await describing(shown, received);
      },
    ]);
    servers.push(server);
    const closed: string[] = [];
    const opened = await open({
      ...options,
      settings: {
        ...settings,
        observation: { ...DEFAULT_SETTINGS.observation, ...options.observation },
      },
      models: {
        ...options.models,
        footage: reader(film, closed),
        visionModel: createVisionModel({
          provider: "ollama",
          model: "eyes",
          baseUrl: server.url,
          transportRetries: 0,
        }),
      },
    });
    return { ...opened, asked, closed, server };
  };
  return { observing, newPack };
}

/** @param closed gets the name of each source that was closed */
function reader(film: Film, closed: string[]): FootageReader {
  return {
    identify: async (input, sourceName) => {
      const name = "path" in input ? input.path : new TextDecoder().decode(input.bytes);
      const shown = film[name];
      if (shown === undefined || name.endsWith(".mp4")) return undefined;
      const { path, sha256 } = footage(name, shown, () => {});
      return { name: sourceName ?? name, path, sha256 };
    },
    open: async (input, { sourceName }) => {
      const name = "path" in input ? input.path : new TextDecoder().decode(input.bytes);
      const shown = film[name];
      if (shown === undefined) throw new Error(`there is no ${name}`);
      return footage(sourceName ?? name, shown, () => closed.push(name));
    },
  };
}

function footage(name: string, shown: readonly (string | null)[], onClose: () => void): Footage {
  const isVideo = name.endsWith(".mp4");
  const frames = shown.map((text, index): SampledFrame => {
    const kept = index === 0 ? "first" : "change";
    return {
      index,
      timeS: isVideo ? index : undefined,
      change: index === 0 ? undefined : 0.75,
      reason: text === null ? undefined : kept,
    };
  });
  const textOf = (index: number) => shown[index] ?? "";
  const sha256 = sha256Hex(JSON.stringify(shown));
  return {
    kind: isVideo ? "video" : "photo",
    name,
    path: `/photos/${name}`,
    sha256,
    capturedAt: TAKEN,
    captureClock: isVideo ? "container" : "exif",
    frames,
    picture: async (index) => ({
      bytes: new TextEncoder().encode(textOf(index)),
      mediaType: "image/jpeg",
      sha256: isVideo ? sha256Hex(textOf(index)) : sha256,
    }),
    thumbnail: async (index, width) => new TextEncoder().encode(`${width} ${textOf(index)}`),
    close: async () => onClose(),
  };
}

function shownIn({ body }: Received): string {
  const url = /data:image\/jpeg;base64,([^"]+)/.exec(JSON.stringify(body.messages))?.[1] ?? "";
  return new TextDecoder().decode(Uint8Array.fromBase64(url));
}
