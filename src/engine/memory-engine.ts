import type { AggregateMethods } from "./aggregate/api.ts";
import type { BrowseMethods } from "./browse/api.ts";
import type { ExtractMethods } from "./extract/api.ts";
import type { ForgetMethods } from "./forget/api.ts";
import type { ImportMethods } from "./import/api.ts";
import type { InspectMethods } from "./inspect/api.ts";
import type { LifecycleMethods } from "./lifecycle/api.ts";
import type { ObserveMethods } from "./observe/api.ts";
import type { OrganizeMethods } from "./organize/api.ts";
import type { OverviewMethods } from "./overview.ts";
import type { OwnerMethods } from "./owners.ts";
import type { ProfileMethods } from "./profiles.ts";
import type { ReceiptMethods } from "./receipts/api.ts";
import type { RetrieveMethods } from "./retrieve/api.ts";
import type { WriteMethods } from "./write/api.ts";

/**
 * The memory of one pack or database. Every method checks its input before it does anything, and rejects with SvcError. After
 * `close()` every method rejects at once with code engine_closed.
 */
export type MemoryEngine = WriteMethods &
  ExtractMethods &
  InspectMethods &
  BrowseMethods &
  LifecycleMethods &
  AggregateMethods &
  RetrieveMethods &
  ReceiptMethods &
  OwnerMethods &
  OrganizeMethods &
  ObserveMethods &
  ForgetMethods &
  ImportMethods &
  OverviewMethods &
  ProfileMethods & {
    /**
     * Closes the files of an encrypted directory pack and forgets its key: every call fails with pack_locked until `unlock`.
     * @throws SvcError unsupported for a single-file pack, and for an unencrypted one
     */
    lock(): Promise<void>;
    /** Opens a locked pack again. @throws SvcError encryption_failed for a wrong key; the pack stays locked */
    unlock(key: string): Promise<void>;
    /** Finishes queued work, then releases model and files. Idempotent. */
    close(): Promise<void>;
  };
