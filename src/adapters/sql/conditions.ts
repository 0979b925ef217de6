import { ACTIVE_STATES } from "../../domain/enums.ts";
import { type Dialect, sqlList } from "./dialect.ts";

export const ACTIVE = sqlList(ACTIVE_STATES);
/** States of what no dispute is about. */
export const OPEN = "('tentative', 'stable')";

/** Whether a member of the metadata of a table is true, as SQL. */
export const isTrue = ({ isOwnerInKeys }: Dialect, table: string, name: string): string =>
  `${table}.metadata::json ->> '${name}' = ${isOwnerInKeys ? "'true'" : "1"}`;
