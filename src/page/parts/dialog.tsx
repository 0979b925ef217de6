import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

type Props = {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
};

/** A dialog before everything else; Escape and a click beside it close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, class: name = "" }: Props): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={name} aria-labelledby={id} onClose={onClose} closedby="any">
      <div class="within">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
