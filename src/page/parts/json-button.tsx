import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { t } from "../language/texts.ts";
import { Button, CopyButton } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";

/** Longer JSON is copied whole, but shown only up to here. */
const SHOWN = 200_000;

type Props = {
  /** What the page got. */
  readonly data: unknown;
  /** With which call it gets it. */
  readonly path: string;
  readonly body?: object;
};

/** Shows the JSON behind a view, and the command that reads the same. The key does not stand in it. */
export function JsonButton({ data, path, body }: Props): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        {t.parts.json}
      </Button>
      {isOpen && (
        <Dialog title={t.parts.json} onClose={() => setOpen(false)} class="wide json">
          <pre tabIndex={0}>{JSON.stringify(data, null, 2).slice(0, SHOWN)}</pre>
          <div class="acts">
            <CopyButton text={JSON.stringify(data)} />
            <CopyButton text={curlOf(path, body)}>{t.parts.asCurl}</CopyButton>
            <Button onClick={() => setOpen(false)}>{t.parts.close}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** For a POSIX shell. */
function curlOf(path: string, body: object | undefined): string {
  const words = ["curl", "-H", '"Authorization: Bearer $SVC_KEY"'];
  if (body !== undefined) {
    words.push("-H", "'content-type: application/json'", "-d", quoted(JSON.stringify(body)));
  }
  return [...words, quoted(`${location.origin}${path}`)].join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
