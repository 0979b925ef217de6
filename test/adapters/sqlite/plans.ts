import type { Database } from "bun:sqlite";

/** A connection that writes down the plan of every statement. */
export function planning(database: Database, plans: string[]): Database {
  return new Proxy(database, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "query" && name !== "prepare") return value.bind(target);
      return (sql: string) => {
        const plan = target.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`);
        plans.push(...plan.all().map(({ detail }) => detail));
        plan.finalize();
        return target[name](sql);
      };
    },
  });
}
