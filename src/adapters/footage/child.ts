/**
 * The process that reads one photo or video, so that no file can crash the main one, block it or fill its memory. It reads a request from
 * standard input and writes answers to standard output. It ends with the process that started it, when its input ends.
 */
import { runPhotoJob } from "./photo-job.ts";
import {
  type ChildRequest,
  createByteReader,
  packetHead,
  Refusal,
  readPacket,
  type Send,
} from "./protocol.ts";
import { killTool } from "./tool.ts";
import { runVideoJob } from "./video-job.ts";

const output = Bun.stdout.writer();

const send: Send = async (answer, body) => {
  output.write(packetHead(answer, body?.length ?? 0));
  if (body !== undefined) output.write(body);
  await output.flush();
};

function leave(): never {
  killTool();
  process.exit(1);
}

async function main(): Promise<void> {
  const input = createByteReader(Bun.stdin.stream());
  const packet = await readPacket<ChildRequest>(input);
  if (packet === undefined) return;
  void input.skip(1).then(leave, leave);
  const { message: request, body } = packet;
  if (request.job === "photo") await runPhotoJob(request, body, send);
  else await runVideoJob(request, send);
  await send({ kind: "done" });
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  await send({ kind: "failed", code: error.code, reason: error.message });
}
process.exit(0);
