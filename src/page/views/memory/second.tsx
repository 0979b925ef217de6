import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { contradictNodes, getNodes, retrieve, supersedeNode } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { callIds, tried } from "../../data/changes.ts";
import { asFailure, type CallFailure } from "../../data/failure.ts";
import { answered } from "../../data/http.ts";
import { go, hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { State } from "../../parts/state.tsx";
import { Text } from "../../parts/text.tsx";
import { canBeReplaced } from "./actions.tsx";
import { Refused } from "./refused.tsx";

/** What a second memory is picked for. */
export type SecondFor = "replace" | "contradict";

/** Results of a search, and characters of a memory that one begins with. */
const FOUND = 20;
const ASKED = 300;

type Props = { readonly node: Node; readonly by: SecondFor; readonly onClose: () => void };

/** A change of two memories: the second is picked by a search, and what happens is said before it does. */
export function Second({ node, by, onClose }: Props): VNode {
  const { second } = t.memory;
  const search = useSearch(node);
  const [chosen, setChosen] = useState<Node | undefined>(undefined);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  const nameOf = useMemo(callIds, []);
  const save = async (other: Node): Promise<void> => {
    const refused = await doIt({ by, node, other, headers: nameOf([by, other.id]) });
    setFailure(refused);
    if (refused !== undefined) return;
    onClose();
    if (by === "replace") go(hrefOf("memory", other.id));
  };
  return (
    <Dialog title={second.titles[by]} onClose={onClose} class="wide">
      <form
        class="sum-question"
        onSubmit={(event) => {
          event.preventDefault();
          search.ask();
        }}
      >
        <label class="find">
          <span class="small">{second.search}</span>
          <input
            type="search"
            value={search.text}
            autocomplete="off"
            onInput={({ currentTarget }) => search.write(currentTarget.value)}
          />
        </label>
        <Button submits>{second.ask}</Button>
      </form>
      {search.failure !== undefined && <Refused of={search.failure} />}
      {search.found !== undefined && (
        <Choice of={search.found} chosen={chosen} onChoose={setChosen} />
      )}
      {chosen !== undefined && <Sentence by={by} node={node} other={chosen} />}
      {failure !== undefined && <Refused of={failure} />}
      <div class="acts">
        <Button
          kind="main"
          disabled={chosen === undefined}
          onClick={() => {
            if (chosen !== undefined) void save(chosen);
          }}
        >
          {second.save[by]}
        </Button>
        <Button onClick={onClose}>{t.parts.cancel}</Button>
      </div>
    </Dialog>
  );
}

type Doing = {
  readonly by: SecondFor;
  readonly node: Node;
  readonly other: Node;
  readonly headers: { readonly "Idempotency-Key": string };
};

async function doIt({ by, node, other, headers }: Doing): Promise<CallFailure | undefined> {
  if (by === "replace") {
    const body = { old_node_id: node.id, new_node_id: other.id };
    return await tried(() => answered(supersedeNode({ body, headers })), t.changes.replaced);
  }
  const body = { node_a_id: node.id, node_b_id: other.id };
  return await tried(() => answered(contradictNodes({ body, headers })), t.changes.contradicted);
}

/** Memories that may be the second one: at first those nearest to the first, then what is searched for. */
function useSearch(node: Node) {
  const [text, write] = useState("");
  const [found, setFound] = useState<readonly Node[] | undefined>(undefined);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  const read = (query: string): void => {
    setFailure(undefined);
    nearest(node, query).then(setFound, (error: unknown) => setFailure(asFailure(error)));
  };
  useEffect(() => read(node.content.slice(0, ASKED)), [node.id]);
  const ask = (): void => {
    if (text.trim() !== "") read(text.trim());
  };
  return { text, write, found, failure, ask };
}

/** Both memories of a change are of one scope, and neither is contested or replaced. @throws CallFailure */
async function nearest(node: Node, query: string): Promise<readonly Node[]> {
  const { id, user_id, scope } = node;
  const { results } = await answered(
    retrieve({ body: { query, user_id, scope, limit: FOUND, keep_receipt: false } }),
  );
  const node_ids = results.flatMap(({ node_id }) => (node_id === id ? [] : [node_id]));
  if (node_ids.length === 0) return [];
  const { nodes } = await answered(getNodes({ body: { node_ids, user_id } }));
  return nodes.filter((one) => one.scope === scope && canBeReplaced(one));
}

type ChoiceProps = {
  readonly of: readonly Node[];
  readonly chosen: Node | undefined;
  readonly onChoose: (node: Node) => void;
};

function Choice({ of, chosen, onChoose }: ChoiceProps): VNode {
  const { second } = t.memory;
  if (of.length === 0) return <p role="status">{second.none}</p>;
  return (
    <fieldset class="second">
      <legend class="small">{second.found}</legend>
      {of.map((node) => (
        <label key={node.id}>
          <input
            type="radio"
            name="second"
            checked={chosen?.id === node.id}
            onChange={() => onChoose(node)}
          />
          <span class="clamp">
            <Text of={node.content} line />
          </span>
          <State of={node.lifecycle_state} />
        </label>
      ))}
    </fieldset>
  );
}

/** What will happen, in one sentence. */
function Sentence({ by, node, other }: { by: SecondFor; node: Node; other: Node }): VNode {
  const { second } = t.memory;
  return (
    <p class="happens" role="status">
      <q>
        <Text of={node.content.slice(0, ASKED)} line />
      </q>{" "}
      {by === "replace" ? second.replaceTo : second.contradictTo}{" "}
      <q>
        <Text of={other.content.slice(0, ASKED)} line />
      </q>
    </p>
  );
}
