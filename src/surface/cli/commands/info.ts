import { EXTRACTION_OFF } from "../../../app/models.ts";
import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { shellWord, shownName } from "../../../lib/text.ts";
import type { PackReport } from "../../../packs/inspect-pack.ts";
import { shownOwner } from "../../contract/core/tool-text.ts";
import { configFor, type PackOptions, packCommand } from "../options.ts";
import { fields, oneLine } from "../output.ts";

export const infoCommand = packCommand(
  {
    name: "info",
    description: "show what a pack holds",
    examples: `
Examples:
  svc info ./memory.pack
  svc info ./memory.pack --format json`,
  },
  async (context, path: string, { encryptionKey, format }: PackOptions) => {
    const { costsInWords, reportOnFading, reportOnPack } = await import(
      "../../../packs/inspect-pack.ts"
    );
    const config = await configFor(context, path, encryptionKey);
    const report = await reportOnPack(config, false);
    const fading = await reportOnFading(config);
    if (format === "json")
      return context.output.json({ ...toJson(report), fading: fading ?? null });
    const { manifest } = report;
    const isDatabase = isDatabaseUrl(path);
    const told = costsInWords(report);
    const costs: [string, string][] = told === undefined ? [] : [["Costs", told]];
    const entries: [string, string | number][] = [
      [isDatabase ? "Database" : "Pack", report.path],
      ["Size", `${report.bytes} bytes`],
      ["Encryption", encryptionOf(report)],
      ["Nodes", report.nodeCount],
      ["Edges", report.edgeCount],
      ["Events", report.eventCount],
      ...picturesOf(report),
      ["Owners", report.ownerCount],
      [`Owner of the ${isDatabase ? "database" : "pack"}`, ownerOf(report)],
      ["Fade within 30 days", fading?.soon ?? "N/A"],
      ["Pending jobs", report.pendingJobs],
      ["Last modified", report.lastModified ?? "N/A"],
      ["Format version", manifest.formatVersion],
      ["Written by", `svc ${shownName(manifest.softwareVersion)}`],
      ["Receipts", receiptsOf(report)],
      ...costs,
      ["Embedding", embeddingOf(report)],
      ["Extraction", extractionOf(report)],
      ["Created", oneLine(manifest.createdAt)],
      ["Look inside with", `svc open ${shellWord(report.path)}`],
    ];
    for (const line of fields(entries)) context.output.line(line);
  },
);

function picturesOf({ blobs: { count, bytes } }: PackReport): [string, string][] {
  return count === 0 ? [] : [["Pictures", `${count} (${bytes} bytes)`]];
}

function receiptsOf({ receipts: { count, bytes }, receiptDays }: PackReport): string {
  const size = count === 0 ? "" : ` (${bytes} bytes)`;
  if (receiptDays === 0) return `${count}${size}; none is kept now`;
  return `${count}${size}; kept ${receiptDays === undefined ? "indefinitely" : `for ${receiptDays} days`}`;
}

function embeddingOf({
  manifest: { embedding },
  begunModel,
  includesModel,
  textsTo,
  path,
}: PackReport): string {
  const from =
    textsTo === undefined ? "" : ` of ${textsTo.provider}: texts are sent to ${textsTo.host}`;
  const model = `${shownName(embedding.model)} (${embedding.dimension})${from}`;
  if (!includesModel) return `${model}, which this program lacks: memories are found by words only`;
  const isChanging = begunModel !== undefined && begunModel.model !== embedding.model;
  if (!isChanging) return model;
  return `${model}; change to ${shownName(begunModel.model)} begun, finish it with: svc rebuild ${shellWord(path)}`;
}

function extractionOf({ extractor, extraction }: PackReport): string {
  const failed = extraction.failed.reduce((total, { times }) => total + times, 0);
  const work = [
    ...(extraction.pending === 0
      ? []
      : [
          extraction.pending === 1
            ? "1 text waits for it"
            : `${extraction.pending} texts wait for it`,
        ]),
    ...(failed === 0 ? [] : [`${failed} were given up (svc doctor says why)`]),
  ];
  if (extractor === undefined) return [EXTRACTION_OFF, ...work].join("; ");
  const { provider, model, host } = extractor;
  return [`on: ${model} of ${provider}, to which texts are sent (${host})`, ...work].join("; ");
}

function encryptionOf({ encrypted, tls }: PackReport): string {
  if (encrypted !== undefined) return encrypted ? "AES-256-GCM" : "none";
  const how = tls === undefined ? "not encrypted" : `encrypted by ${tls}`;
  return `the server decides; connection to it: ${how}`;
}

function ownerOf({ owner, path }: PackReport): string {
  switch (owner.from) {
    case "set":
      return shownOwner(owner.userId);
    case "only":
      return `${shownOwner(owner.userId)} (the only one with memories)`;
    case "several":
      return `not set; svc owner list ${shellWord(path)} shows them`;
    case "nobody":
      return "the first to store a memory";
  }
}

function toJson(report: PackReport): Record<string, unknown> {
  const { manifest } = report;
  return {
    db_path: report.path,
    db_size_bytes: report.bytes,
    encryption: report.encrypted === undefined ? null : encryptionOf(report),
    ...(report.encrypted === undefined && { connection_encryption: report.tls ?? "none" }),
    node_count: report.nodeCount,
    edge_count: report.edgeCount,
    event_count: report.eventCount,
    blob_count: report.blobs.count,
    blob_bytes: report.blobs.bytes,
    receipt_count: report.receipts.count,
    receipt_bytes: report.receipts.bytes,
    receipt_days: report.receiptDays ?? null,
    costs: {
      model_tokens: report.costs.modelTokens ?? null,
      store_ms: report.costs.storeMs ?? null,
      question_ms: report.costs.questionMs ?? null,
      memory_bytes: report.costs.memoryBytes ?? null,
      question_bytes: report.costs.questionBytes ?? null,
    },
    owner_count: report.ownerCount,
    owner: "userId" in report.owner ? report.owner.userId : null,
    pending_jobs: report.pendingJobs,
    extraction: {
      is_on: report.extractor !== undefined,
      provider: report.extractor?.provider ?? null,
      model: report.extractor?.model ?? null,
      pending: report.extraction.pending,
      failed: report.extraction.failed.reduce((total, { times }) => total + times, 0),
    },
    last_modified: report.lastModified ?? "N/A",
    manifest: {
      format_version: manifest.formatVersion,
      software_version: manifest.softwareVersion,
      embedding_model: manifest.embedding.model,
      embedding_version: manifest.embedding.version,
      embedding_dim: manifest.embedding.dimension,
      scoring_version: manifest.scoringVersion,
      created_at: manifest.createdAt,
      updated_at: manifest.updatedAt,
    },
  };
}
