import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../language/texts.ts";
import { Button } from "./controls.tsx";

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

type FormProps = Omit<Props, "class"> & {
  /** What the button says that does it. */
  readonly save: string;
  readonly kind?: "main" | "danger";
  /** Whether it can be done now. */
  readonly isReady: boolean;
  readonly onSave: () => void;
};

/** A wide dialog in which something is written down and then done, by its button or by Enter. */
export function FormDialog(props: FormProps): VNode {
  const { title, onClose, children, save, kind = "main", isReady, onSave } = props;
  return (
    <Dialog title={title} onClose={onClose} class="wide">
      <form
        class="correct"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onSave();
        }}
      >
        {children}
        <div class="acts">
          <Button kind={kind} submits disabled={!isReady}>
            {save}
          </Button>
          <Button onClick={onClose}>{t.parts.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The text of such a dialog. */
export function TextField(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
}): VNode {
  const { label, value, onInput } = props;
  return (
    <label>
      <span class="small">{label}</span>
      <textarea
        rows={4}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}
