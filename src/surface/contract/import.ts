import { z } from "zod";
import { SCOPES } from "../../domain/enums.ts";
import { type ImportUndone, importReportForm } from "../../engine/import/api.ts";
import { list, named, natural, noted, uuid } from "../../lib/form.ts";
import {
  choiceInQuery,
  flagInQuery,
  id,
  instantInQuery,
  ownerInQuery,
  textInQuery,
} from "./core/fields.ts";
import { defineOperation, part } from "./core/operation.ts";
import { type Field, httpField } from "./core/request.ts";

/** The engine checks its bounds. */
function numberInQuery(
  minimum: number,
  maximum: number,
  description: string,
): Field<number | undefined> {
  const schema = z.int().optional().meta({ minimum, maximum, description });
  return { ...httpField(schema), fromText: (text) => Number(text || Number.NaN) };
}

const importOperation = defineOperation({
  name: "import_source",
  summary: "Import what another program keeps",
  description:
    "The body is the file itself, of any size: an export, a database, a document, or a zip file of them. Its content decides what it is. What is there already is not written again. With `dry_run` nothing is written, and the report says what would be.",
  request: {
    user_id: ownerInQuery,
    from: textInQuery("What it is, such as `chatgpt`. Absent: what its content says."),
    source_name: textInQuery("The name of the file, by which notes and documents are told apart."),
    since: instantInQuery("Leave out what is older."),
    scope: choiceInQuery(SCOPES, { description: "Absent: what the source says." }),
    tools: flagInQuery("Take outputs of tools, too."),
    branches: choiceInQuery(["shown", "all"], { description: "`all`: replaced answers, too." }),
    offset_minutes: numberInQuery(-840, 840, "Of times that have none, east of UTC."),
    again: flagInQuery("Take what was forgotten, too."),
    dry_run: flagInQuery("Write nothing."),
    sample: numberInQuery(0, 100, "How many records the report shows."),
  },
  run: ({ engine, file, signal }, input) =>
    engine().importSource({ ...input, source: file ?? new Uint8Array(0), signal }),
  answer: noted(importReportForm, {
    id: "ImportReport",
    description: "What an import wrote, or would write.",
  }),
  http: { route: "post /v1/import", takesFile: true },
});

const undoOperation = defineOperation({
  name: "undo_import",
  summary: "Take an import back",
  description:
    "Erases everything that an import brought in, as a forgetting does, and lets what it had replaced hold again.",
  request: { import_id: id(), user_id: ownerInQuery },
  run: ({ engine }, { importId, userId }) => engine().undoImport(userId, importId),
  answer: named<ImportUndone>("ImportUndone", "What went with an import.", {
    importId: uuid,
    events: natural,
    memories: natural,
    restored: noted(natural, { description: "What it had replaced, and holds again." }),
    forgetIds: list(uuid),
  }),
  http: { route: "delete /v1/import/{import_id}", statuses: [404] },
});

export const IMPORT_OPERATIONS = part("writing", importOperation, undoOperation);
