import type { VNode } from "preact";
import { go, hrefOf, place } from "../data/place.ts";
import { owner, owners } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Text } from "../parts/text.tsx";

/** Whose memory is shown: no list mixes owners. */
export function OwnerChoice({ onClose }: { onClose: () => void }): VNode {
  const choose = (name: string): void => {
    onClose();
    go(hrefOf(place.value.view === "memory" ? "" : place.value.view, "", { owner: name }));
  };
  return (
    <Dialog title={t.frame.chooseOwner} onClose={onClose}>
      <ul class="choices">
        {owners.value.map(({ user_id: name, memories }) => (
          <li key={name}>
            <button type="button" aria-pressed={name === owner.value} onClick={() => choose(name)}>
              <Text of={name} line />
              <span class="dim">{t.frame.memories(memories)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
