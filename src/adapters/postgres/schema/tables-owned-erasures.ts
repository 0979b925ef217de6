import { ERASED_HASH } from "../../../domain/erasure.ts";
import { INSTANT, OWNER, TEXT } from "./columns.ts";

/** Whether the log says that what the first owner had belongs to another. */
const HAS_MOVED = `EXISTS (SELECT 1 FROM operations p JOIN owners before ON before.owner = OLD.owner
      WHERE p.target_id = 'owner:' || before.user_id AND p.op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED')`;

/**
 * Erasures begin with their owner, as everything does that owners have, so that every table can be in partitions. An event that
 * changes hands may move into another partition, where the server takes it out of its own: that is no loss.
 */
export const OWNED_ERASURE_TABLES: readonly string[] = [
  "ALTER TABLE erasures RENAME TO former_erasures",
  "ALTER INDEX erasures_pkey RENAME TO former_erasures_pkey",
  "DROP INDEX erasures_by_forgetting",
  `CREATE TABLE erasures (
    -- Who had it when it was erased; 0 where that was not written down.
    owner ${OWNER} DEFAULT 0,
    -- The event whose content is gone, or the memory.
    event_id uuid NOT NULL,
    forget_id uuid NOT NULL,
    erased_at ${INSTANT} NOT NULL,
    actor ${TEXT} NOT NULL,
    PRIMARY KEY (owner, event_id)
  )`,
  `INSERT INTO erasures (owner, event_id, forget_id, erased_at, actor)
    SELECT coalesce((SELECT e.owner FROM events e WHERE e.id = x.event_id), (SELECT p.owner FROM operations p WHERE p.id = x.forget_id), 0),
      x.event_id, x.forget_id, x.erased_at, x.actor FROM former_erasures x`,
  "DROP TABLE former_erasures",
  "CREATE INDEX erasures_by_event ON erasures (event_id)",
  "CREATE INDEX erasures_by_forgetting ON erasures (forget_id)",
  `CREATE TRIGGER erasures_never_change BEFORE UPDATE OR DELETE ON erasures
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER erasures_are_never_emptied BEFORE TRUNCATE ON erasures EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE OR REPLACE FUNCTION svc_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'owner' - 'key') = (to_jsonb(OLD) - 'owner' - 'key') AND ${HAS_MOVED}
        AND p.payload::json ->> 'after' = (SELECT after.user_id FROM owners after WHERE after.owner = NEW.owner)) THEN
      PERFORM set_config('svc.moves', OLD.owner || ' ' || OLD.id, true);
      RETURN NEW;
    END IF;
    IF (to_jsonb(NEW) - 'content' - 'content_hash' - 'metadata') = (to_jsonb(OLD) - 'content' - 'content_hash' - 'metadata')
      AND OLD.content <> '' AND NEW.content = '' AND NEW.content_hash = '${ERASED_HASH}' AND EXISTS (
        SELECT 1 FROM erasures x WHERE x.owner IN (OLD.owner, 0) AND x.event_id = OLD.id AND NEW.metadata::jsonb =
          jsonb_build_object('erased', x.forget_id::text, 'erased_at', x.erased_at)) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_event_loss() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('svc.moves', true) = OLD.owner || ' ' || OLD.id AND ${HAS_MOVED}) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  "DROP TRIGGER events_never_vanish ON events",
  `CREATE TRIGGER events_never_vanish BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_event_loss()`,
];
