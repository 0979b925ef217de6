import { isWebAddress } from "../domain/provider-address.ts";
import type { Complaint } from "./complaint.ts";
import { decimal, integer, text } from "./fields.ts";

/** Models that run on this machine and are not part of the program. */
export const MODELS = {
  hub_url: text(
    "https://huggingface.co",
    "Where local models are downloaded from when a setting names one instead of a folder. Nothing is downloaded for what is turned off.",
  ),
  download_timeout: decimal(
    { default: 1800, above: 0, max: 86_400 },
    "Seconds for the download of one model.",
  ),
  download_stall_timeout: decimal(
    { default: 30, above: 0, max: 3600 },
    "Seconds without a byte after which a download is abandoned.",
  ),
  threads: integer(
    { default: 1, min: 1, max: 256 },
    "Processor threads for one run of a reranker.",
  ),
};

/** Errors in the settings of local models. */
export function modelComplaints({
  models,
}: {
  readonly models: { readonly hub_url: string };
}): readonly Complaint[] {
  if (isWebAddress(models.hub_url)) return [];
  return [{ setting: "models.hub_url", reason: "is no address of the form https://host" }];
}
