import type { VNode } from "preact";
import { seenIn } from "../../domain/seen.ts";
import { getBlob } from "../client/sdk.gen.ts";
import type { Node } from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { useQuery } from "../data/query.ts";
import { t } from "../language/texts.ts";
import { signed, Text } from "./text.tsx";

/** Characters of a description that stand for the picture. */
const ALT = 300;

/** Where a memory was seen, with its picture if one is kept. */
export function Picture({ node }: { node: Node }): VNode | null {
  const seen = seenIn(node.metadata ?? undefined);
  if (seen === undefined) return null;
  const { thumbnail } = seen;
  const alt = signed(node.content.slice(0, ALT));
  return (
    <figure class="seen">
      {thumbnail !== undefined && <Shown id={thumbnail} alt={alt} />}
      <figcaption class="small">
        <Text of={t.memory.seenIn(seen)} line />
      </figcaption>
    </figure>
  );
}

/** As an address with the bytes in it: the page may load no other. */
function Shown({ id, alt }: { id: string; alt: string }): VNode | null {
  const { data } = useQuery(`picture ${id}`, (userId) => read(id, userId));
  return data === undefined ? null : <img src={data} alt={alt} />;
}

async function read(id: string, userId: string): Promise<string> {
  const bytes = await answered(getBlob({ path: { blob_key: id }, query: { user_id: userId } }));
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(bytes);
  });
}
