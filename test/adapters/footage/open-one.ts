/** Opens a photo or video and prints what became of it: a process of its own, so that the memory of it and its children can be told. */
import { openFootage, refusal } from "./samples.ts";

const path = process.argv[2] ?? "";
const outcome = await refusal({ path });
if (outcome === "opened") {
  const footage = await openFootage({ path });
  const { width, height } = await new Bun.Image((await footage.picture(0)).bytes).metadata();
  const kept = footage.frames.filter(({ reason }) => reason !== undefined).length;
  console.log(
    `${footage.kind}, ${width} x ${height}, ${footage.frames.length} frames, ${kept} kept, ${footage.captureClock}`,
  );
  await footage.close();
} else {
  console.log(outcome);
}
