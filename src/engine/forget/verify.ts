import { parseOptionalText } from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { invalid } from "../../domain/errors.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { sha256OfJson } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import { committedTo, newSigningKey, publicKeyOf, signerOf } from "../../lib/signing.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";
import type { ForgetCheck, ForgetVerification } from "./api.ts";
import { receiptRecordId } from "./forgettings.ts";
import { lookFor } from "./look.ts";
import { isErased, type PlanStore } from "./plan.ts";
import { RECEIPT_FORMAT, type ReceiptStore } from "./receipt.ts";

type VerifyStore = PlanStore & ReceiptStore;

/** @throws SvcError invalid_argument */
export async function verifyForgetting(
  {
    store,
    isReadOnly = false,
  }: { readonly store: VerifyStore; readonly isReadOnly?: boolean | undefined },
  given: unknown,
  typed: string | null | undefined,
): Promise<ForgetVerification> {
  const receipt = receiptIn(given);
  const text = parseOptionalText(typed, "text");
  const forgetId = parseUuid(String(receipt["forget_id"]));
  if (forgetId === undefined) throw invalid("receipt", "names no forgetting");
  const checks: ForgetCheck[] = [];
  const check = (name: string, ok: boolean, detail: string): void => {
    checks.push({ name, ok, detail });
  };
  const signer = await signerOf(receipt);
  check(
    "signature",
    signer !== undefined,
    signer === undefined ? "the receipt was changed" : "the receipt is as it was signed",
  );
  if (!isReadOnly) {
    const own = publicKeyOf(await store.signingKey(await newSigningKey()));
    const isOwn = signer === own;
    check(
      "signer",
      isOwn,
      isOwn ? "signed with the key that is kept here" : "signed with another key",
    );
  }
  const issued = await store.auditRecord(receiptRecordId(forgetId), ALL_OWNERS);
  const noted = issued && openChecksummed(issued.payload);
  const isNoted = noted?.["sha256"] === sha256OfJson(receipt);
  check(
    "log",
    isNoted,
    isNoted ? "the log has this receipt" : "the log has no receipt, or another one",
  );
  const left = await leftOf(store, receipt);
  check(
    "erased",
    left.length === 0,
    left.length === 0 ? "nothing that it names is there" : `still there: ${left.join(", ")}`,
  );
  const stage = await store.erasureStage(forgetId);
  check("stage", stage === "physical", `the erasure is ${stage}`);
  if (text !== undefined) await checkText(store, receipt, text, check);
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** @throws SvcError invalid_argument */
function receiptIn(given: unknown): JsonObject {
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  if (!isObject || Reflect.get(given, "format") !== RECEIPT_FORMAT) {
    throw invalid("receipt", `is not a ${RECEIPT_FORMAT}`);
  }
  // SAFETY: it was parsed from JSON, or is checked against a signature of its JSON.
  return given as JsonObject;
}

function idsIn(receipt: JsonObject, name: string): readonly Uuid[] {
  const erased = receipt["erased"];
  const list: unknown =
    typeof erased === "object" && erased !== null ? Reflect.get(erased, name) : [];
  return Array.isArray(list) ? list.flatMap((id) => parseUuid(String(id)) ?? []) : [];
}

/** What a receipt says is gone, and is not. */
async function leftOf(store: VerifyStore, receipt: JsonObject): Promise<readonly string[]> {
  const left: string[] = [];
  for (const id of idsIn(receipt, "events")) {
    const event = await store.event(id, ALL_OWNERS);
    if (event !== undefined && !isErased(event)) left.push(`event ${id}`);
  }
  for (const id of idsIn(receipt, "nodes")) {
    if ((await store.node(id, ALL_OWNERS)) !== undefined) left.push(`memory ${id}`);
  }
  return left;
}

async function checkText(
  store: VerifyStore,
  receipt: JsonObject,
  text: string,
  check: (name: string, ok: boolean, detail: string) => void,
): Promise<void> {
  const ids = committedTo(receipt["commitment"], text);
  check(
    "text",
    ids.length > 0,
    ids.length > 0 ? `it is the text of ${ids.join(", ")}` : otherTexts(receipt),
  );
  const found = await lookFor(store, [text], ALL_OWNERS);
  if (typeof found?.["hits"] !== "number") {
    check("scan", true, "this store cannot look at its pages");
    return;
  }
  const { pages, hits, kept_elsewhere: elsewhere } = found;
  const kept = Array.isArray(elsewhere) && elsewhere.length > 0;
  const beside = kept ? `; parts of it are in what was kept: ${elsewhere.join(", ")}` : "";
  check("scan", hits === 0, `${String(hits)} pieces of it in ${String(pages)} pages${beside}`);
}

function otherTexts({ commitment }: JsonObject): string {
  return commitment === null
    ? "the receipt was made when the texts were gone, and cannot tell"
    : "the receipt is about other texts";
}
