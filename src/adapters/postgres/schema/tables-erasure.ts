import { ERASED_HASH } from "../../../domain/erasure.ts";
import { INSTANT, TEXT } from "./columns.ts";

/** What an event or an operation says never changes. It can only be erased, as a whole and once, if this table says so. */
export const ERASURE_TABLES: readonly string[] = [
  `CREATE TABLE erasures (
    -- The event whose content is gone, or the memory.
    event_id uuid PRIMARY KEY,
    forget_id uuid NOT NULL,
    erased_at ${INSTANT} NOT NULL,
    actor ${TEXT} NOT NULL
  )`,
  "CREATE INDEX erasures_by_forgetting ON erasures (forget_id)",
  `CREATE TRIGGER erasures_never_change BEFORE UPDATE OR DELETE ON erasures
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER erasures_are_never_emptied BEFORE TRUNCATE ON erasures EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE OR REPLACE FUNCTION svc_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'owner' - 'key') = (to_jsonb(OLD) - 'owner' - 'key') AND EXISTS (
      SELECT 1 FROM operations p JOIN owners before ON before.owner = OLD.owner JOIN owners after ON after.owner = NEW.owner
      WHERE p.target_id = 'owner:' || before.user_id AND p.op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED')
        AND p.payload::json ->> 'after' = after.user_id) THEN
      RETURN NEW;
    END IF;
    IF (to_jsonb(NEW) - 'content' - 'content_hash' - 'metadata') = (to_jsonb(OLD) - 'content' - 'content_hash' - 'metadata')
      AND OLD.content <> '' AND NEW.content = '' AND NEW.content_hash = '${ERASED_HASH}' AND EXISTS (
        SELECT 1 FROM erasures x WHERE x.event_id = OLD.id AND NEW.metadata::jsonb =
          jsonb_build_object('erased', x.forget_id::text, 'erased_at', x.erased_at)) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_operation_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'payload') = (to_jsonb(OLD) - 'payload') AND OLD.payload::json ->> 'erased' IS NULL
      AND NEW.payload::jsonb - 'erased' - 'record' - 'sha256' = '{}'::jsonb
      AND NEW.payload::json ->> 'record' = '{"erased":"' || (NEW.payload::json ->> 'erased') || '"}'
      AND EXISTS (SELECT 1 FROM erasures x WHERE x.forget_id = (NEW.payload::json ->> 'erased')::uuid) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'operations are immutable' USING ERRCODE = '23001';
  END $$`,
  "DROP TRIGGER operations_never_change ON operations",
  `CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_operation_change()`,
  `CREATE TRIGGER operations_never_vanish BEFORE DELETE ON operations FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
];
