import { createCl100kTokenizer } from "/work/main/src/adapters/tokens/cl100k.ts";
import { open } from "./.m1-server.ts";
const t = createCl100kTokenizer(); await t.ready();
for (const bound of [undefined, "ada"]) for (const toolSet of ["full","core"] as const) {
  const s = await open({ engine: () => Promise.reject(new Error("x")), boundUserId: bound, toolSet });
  const { tools } = await s.client.listTools();
  console.log(bound, toolSet, tools.length, t.count(JSON.stringify(tools)));
  if (bound === undefined && process.argv[2] === toolSet) for (const x of tools) console.log("  ", x.name, t.count(JSON.stringify(x)), "in", t.count(JSON.stringify(x.inputSchema)), "out", t.count(JSON.stringify(x.outputSchema)), "desc", t.count(x.description ?? ""));
  if (bound === undefined && toolSet === "full" && process.argv[3]) for (const x of tools) if (process.argv[3].split(",").includes(x.name)) console.log(JSON.stringify(x));
  await s.close();
}
process.exit();
