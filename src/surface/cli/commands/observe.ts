import { Option } from "commander";
import { reachedHost } from "../../../app/models.ts";
import type { Config } from "../../../config/schema.ts";
import { SCOPES, type Scope } from "../../../domain/enums.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../engine.ts";
import { momentOf } from "../local-moment.ts";
import { observeFiles } from "../observe-files.ts";
import { configWithoutKey, keyRequest, ownerOption } from "../options.ts";
import { escaped } from "../output.ts";
import { ownerFor } from "../owner.ts";
import { choiceOption, PACK, type PackOptions, packCommand } from "../pack-command.ts";
import { stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc observe ./memory.pack receipt.jpg
  svc observe ./memory.pack ~/Photos/2026 walk.mp4 --no-thumbnails
  svc observe ./memory.pack board.jpg --captured-at "2026-03-01 10:00" --provider openai --model gpt-4o

A vision model describes each photo, and each frame of a video that shows something new: by default one of Ollama on this machine
(ollama pull qwen3.5:9b). A hosted model is sent the pictures. Videos need ffmpeg. Running it again observes only what is missing.
Exits with 1 if a file or a frame failed.`;

type ObserveOptions = PackOptions & {
  readonly userId?: string;
  readonly capturedAt?: string;
  readonly sessionId?: string;
  readonly scope?: Scope;
  readonly provider?: Config["vision"]["provider"];
  readonly model?: string;
  readonly baseUrl?: string;
  readonly extract?: boolean;
  readonly thumbnails: boolean;
};

/** `svc observe`: stores what photos and videos show. */
export const observeCommand = packCommand(
  {
    name: "observe",
    description: "store what photos and videos show, as a vision model describes it",
    arguments: [PACK, ["<file...>", "photos, videos, or folders with them"]],
    options: [
      ownerOption(),
      new Option(
        "--captured-at <instant>",
        "when all of them were taken; without an offset: local time (default: what each file says)",
      ),
      new Option("--session-id <id>", "conversation they belong to (default: one for each file)"),
      choiceOption("--scope <scope>", "where they belong (default: personal)", SCOPES),
      new Option(
        "--provider <name>",
        "who runs the vision model (default: vision.provider)",
      ).choices(["ollama", "openai", "anthropic"]),
      new Option("--model <name>", "the vision model (default: vision.model)"),
      new Option("--base-url <url>", "address of the provider (default: vision.base_url)"),
      new Option("--extract", "extract claims from the descriptions (default: vision.extract)"),
      new Option("--no-extract", "keep each description as one note"),
      new Option("--no-thumbnails", "keep no small pictures (default: vision.keep_thumbnails)"),
    ],
    examples: EXAMPLES,
  },
  async (context, path: string, files: readonly string[], options: ObserveOptions) => {
    const capturedAt = momentOf(options.capturedAt, "--captured-at");
    const config = await configFor(context, path, options);
    const { listSources } = await import("../../../app/source-files.ts");
    const sources = await listSources(files);
    const isAny = sources.some(({ skipped }) => skipped === undefined);
    const stop = stopSignal();
    await withEngine(context, config, async (engine) => {
      const userId = await ownerFor(context, engine, {
        given: options.userId,
        path,
        isStoring: true,
      });
      context.output.note(
        isAny
          ? `Pictures are shown to ${modelInWords(config.vision)}.`
          : "No photo or video was found.",
      );
      const { sessionId, scope, format } = options;
      const about = { userId, capturedAt, sessionId, scope, signal: stop };
      await observeFiles(context, engine, { sources, about, format });
    });
  },
);

/** The configuration with the pack, its key, and what the options say of the model. */
async function configFor(
  context: CliContext,
  path: string,
  options: ObserveOptions,
): Promise<Config> {
  const { provider, model, baseUrl, extract, thumbnails, encryptionKey } = options;
  const config = configWithoutKey(context, path, undefined, {
    vision: {
      enabled: true,
      ...{ provider, model, extract },
      base_url: baseUrl,
      keep_thumbnails: thumbnails ? undefined : false,
    },
  });
  const { findKey } = await import("../../../app/pack-key.ts");
  return (await findKey(config, keyRequest(encryptionKey))).config;
}

function modelInWords({ provider, model, base_url: baseUrl }: Config["vision"]): string {
  // A settings file of the working directory may name it.
  return `${escaped(model)} (${provider}, ${reachedHost(provider, baseUrl)})`;
}
