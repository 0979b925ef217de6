import { z } from "zod";
import { count, userIdIn } from "../core/fields.ts";

export const processBodySchema = z
  .strictObject({
    user_id: userIdIn,
    budget_ms: count
      .optional()
      .meta({ description: "Milliseconds to spend; 0 only counts.", default: 1000 }),
  })
  .meta({ id: "ProcessRequest" });
export const processToolSchema = z.strictObject({
  ...processBodySchema.shape,
  budget_ms: count
    .nullish()
    .meta({ description: "Milliseconds to spend; 0 only counts.", default: 1000 }),
});
export type ProcessWire = z.infer<typeof processToolSchema>;
