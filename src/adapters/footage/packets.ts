import { type ByteReader, createByteReader } from "./byte-reader.ts";

/** What goes through a pipe between the process and its child: a message, and bytes that belong to it. */
export type Packet<Message> = { readonly message: Message; readonly body: Uint8Array };

const HEADER_BYTES = 8;
/** The largest packet that is read. */
const MAX_BYTES = 256 * 2 ** 20;

/** The bytes that stand before the body of a packet: two lengths, and the message as JSON. */
export function packetHead(message: object, bodyBytes: number): Uint8Array {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEADER_BYTES + text.length);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(bodyBytes, 4);
  head.set(text, HEADER_BYTES);
  return head;
}

/** The packets of a stream, to its end. @throws Error if it is cut off or no stream of packets */
export async function* readPackets<Message>(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Packet<Message>> {
  const reader = createByteReader(stream);
  for (;;) {
    const packet = await readPacket<Message>(reader);
    if (packet === undefined) return;
    yield packet;
  }
}

/** The next packet; undefined at the end. @throws Error if it is cut off or none */
export async function readPacket<Message>(
  reader: ByteReader,
): Promise<Packet<Message> | undefined> {
  const lengths = await reader.take(HEADER_BYTES);
  if (lengths === undefined) return undefined;
  const view = new DataView(lengths.buffer);
  const [textBytes, bodyBytes] = [view.getUint32(0, true), view.getUint32(4, true)];
  if (textBytes + bodyBytes > MAX_BYTES) throw new Error("this is no stream of packets");
  const text = await reader.take(textBytes);
  const body = bodyBytes === 0 ? new Uint8Array(0) : await reader.take(bodyBytes);
  if (text === undefined || body === undefined) throw new Error("the stream was cut off");
  return { message: JSON.parse(Buffer.from(text).toString()), body };
}
