import type { VNode } from "preact";
import { useState } from "preact/hooks";
import * as api from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { canBeReplaced, useSending } from "../../data/changes.ts";
import { answered, type CallFailure } from "../../data/http.ts";
import { readNodes } from "../../data/nodes.ts";
import { go, hrefOf } from "../../data/place.ts";
import { owner, useQuery } from "../../data/server.ts";
import { Button, Dialog, FormDialog, SearchForm, TextField } from "../../parts/controls.tsx";
import { Refused, State } from "../../parts/states.tsx";
import { Text, Words } from "../../parts/text.tsx";

type Met = {
  readonly failure: CallFailure;
  readonly now: Node | undefined;
  readonly by: Node | undefined;
};

type RememberProps = Readonly<Record<"onClose" | "onImport", () => void>>;

/** A sentence typed by the reader, stored as said by the user. */
export function Remember({ onClose, onImport }: RememberProps): VNode {
  const [text, setText] = useState("");
  const { isSending, failure, nameOf, send } = useSending();
  const content = text.trim();
  const save = async (): Promise<void> => {
    const body = { user_id: owner.peek() ?? "", content, role: "user" as const };
    const call = () => answered(api.store({ body, headers: nameOf(body) }));
    if ((await send(call, "Remembered.")) === undefined) onClose();
  };
  return (
    <FormDialog
      title="Remember something"
      onClose={onClose}
      save="Remember"
      isReady={content !== "" && !isSending}
      onSave={save}
    >
      <TextField
        label="In a sentence that will still make sense in a year"
        value={text}
        onInput={setText}
      />
      <p class="small">
        <Button kind="link" onClick={onImport}>
          Or bring in a file: conversations, notes, documents
        </Button>
      </p>
      {failure !== undefined && <Refused of={failure} />}
    </FormDialog>
  );
}

/** A new text that replaces an old one, in one step; the old one stays in the chain. */
export function Correct({ node, onClose }: { node: Node; onClose: () => void }): VNode {
  const [base, setBase] = useState(node);
  const [text, setText] = useState(node.content);
  const { isSending, nameOf, send } = useSending();
  const [met, setMet] = useState<Met | undefined>(undefined);
  const isSame = text.trim() === base.content.trim() || text.trim() === "";
  const save = async (): Promise<void> => {
    let id: string | undefined;
    const body = bodyOf(base, text);
    const headers = nameOf(body);
    const failure = await send(async () => {
      id = (await answered(api.store({ body, headers }))).node_id;
      if (base.pinned)
        await answered(api.pinNode({ path: { node_id: id }, body: { pinned: true } }));
    }, "Corrected. The old text stays in the history.");
    if (failure !== undefined) {
      // Rejected text stays where it was typed.
      setMet(await meet(base, failure));
      return;
    }
    onClose();
    if (id !== undefined) go(hrefOf("memory", id));
  };
  const take = (): void => {
    setBase(met?.by ?? base);
    setMet(undefined);
  };
  return (
    <FormDialog
      title="Correct this memory"
      onClose={onClose}
      save="Replace it"
      isReady={!isSame && !isSending}
      onSave={save}
    >
      <TextField label="What is true" value={text} onInput={setText} />
      {!isSame && <Words before={base.content} after={text} />}
      <p class="small">
        {isSame
          ? "The text is the same."
          : "The new text replaces this one in a single step. The old text stays in the history and is no longer found."}
      </p>
      {met !== undefined && <Refused of={met.failure} now={met.now} />}
      {met?.by !== undefined && (
        <div class="met">
          <p class="small">It was replaced by this one:</p>
          <Text as="p" class="clamp" of={met.by.content} line />
          <Button onClick={take}>Correct that one instead</Button>
        </div>
      )}
    </FormDialog>
  );
}

/** A correction changes only the text: times, retention and scope stay. */
function bodyOf(node: Node, text: string) {
  const { id, user_id, node_type, scope, session_id, event_time, valid_to, ttl_days } = node;
  const content = text.trim();
  // Without a stated time, the memory's time is that of storage, and the correction is valid from now.
  const isNamed = valid_to !== null || node.valid_from !== node.created_at;
  const times = { event_time, valid_from: isNamed ? node.valid_from : null, valid_to, ttl_days };
  const about = { user_id, node_type, scope, session_id, ...times };
  return { ...about, content, role: "user" as const, supersedes: [id] };
}

async function meet(base: Node, failure: CallFailure): Promise<Met> {
  const read = async (id: string): Promise<Node | undefined> =>
    await answered(api.getNode({ path: { node_id: id } })).catch(() => undefined);
  const now = await read(base.id);
  const by = now?.superseded_by == null ? undefined : await read(now.superseded_by);
  return { failure, now, by };
}

type SecondFor = "replace" | "contradict";

const FOUND = 20;
const ASKED = 300;

type Props = { readonly node: Node; readonly by: SecondFor; readonly onClose: () => void };

/** A change of two memories: the second is picked by a search, and the effect is explained first. */
export function Second({ node, by, onClose }: Props): VNode {
  const [query, setQuery] = useState(node.content.slice(0, ASKED));
  const search = useQuery(`second ${node.id} ${query}`, () => nearest(node, query));
  const [chosen, setChosen] = useState<Node | undefined>(undefined);
  const { failure, nameOf, send } = useSending();
  const save = async (other: Node): Promise<void> => {
    const headers = nameOf([by, other.id]);
    const replaced = { old_node_id: node.id, new_node_id: other.id };
    const contradicted = { node_a_id: node.id, node_b_id: other.id };
    const refused = await send<unknown>(
      by === "replace"
        ? () => answered(api.supersedeNode({ body: replaced, headers }))
        : () => answered(api.contradictNodes({ body: contradicted, headers })),
      by === "replace" ? "Replaced. The old text stays in the history." : "Both are contested now.",
    );
    if (refused !== undefined) return;
    onClose();
    if (by === "replace") go(hrefOf("memory", other.id));
  };
  return (
    <Dialog
      title={by === "replace" ? "Replace it with another memory" : "What contradicts it?"}
      onClose={onClose}
      class="wide"
    >
      <SearchForm
        label="Search for the other memory"
        name="Search"
        onSearch={(text) => setQuery(text || query)}
      />
      {search.failure !== undefined && <Refused of={search.failure} />}
      {search.data !== undefined && (
        <Choice of={search.data} chosen={chosen} onChoose={setChosen} />
      )}
      {chosen !== undefined && <Sentence by={by} node={node} other={chosen} />}
      {failure !== undefined && <Refused of={failure} />}
      <div class="acts">
        <Button
          kind="main"
          disabled={chosen === undefined}
          onClick={() => chosen && void save(chosen)}
        >
          {by === "replace" ? "Replace it" : "Mark both as contested"}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

/** Both memories of a change must have one scope, and neither may be contested or replaced. @throws CallFailure */
async function nearest(node: Node, query: string): Promise<readonly Node[]> {
  const { id, user_id, scope } = node;
  const { results } = await answered(
    api.retrieve({ body: { query, user_id, scope, limit: FOUND, keep_receipt: false } }),
  );
  const node_ids = results.flatMap(({ node_id }) => (node_id === id ? [] : [node_id]));
  const nodes = await readNodes(node_ids, user_id);
  return nodes.filter((one) => one.scope === scope && canBeReplaced(one));
}

type ChoiceProps = {
  readonly of: readonly Node[];
  readonly chosen: Node | undefined;
  readonly onChoose: (node: Node) => void;
};

function Choice({ of, chosen, onChoose }: ChoiceProps): VNode {
  if (of.length === 0) {
    return <p role="status">No other memory of this scope that can be replaced was found.</p>;
  }
  return (
    <fieldset class="second">
      <legend class="small">The other memory</legend>
      {of.map((node) => (
        <label key={node.id}>
          <input
            type="radio"
            name="second"
            checked={chosen?.id === node.id}
            onChange={() => onChoose(node)}
          />
          <Text as="span" class="clamp" of={node.content} line />
          <State of={node.lifecycle_state} />
        </label>
      ))}
    </fieldset>
  );
}

const Sentence = ({ by, node, other }: { by: SecondFor; node: Node; other: Node }): VNode => (
  <p class="happens" role="status">
    <Text as="q" of={node.content.slice(0, ASKED)} line />{" "}
    {by === "replace"
      ? "will no longer be found; it stays in the history, replaced by"
      : "will both be contested: assistants get both, marked so, until one is kept. The other is"}{" "}
    <Text as="q" of={other.content.slice(0, ASKED)} line />
  </p>
);
