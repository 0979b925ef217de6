import type { VNode } from "preact";
import { t } from "../language/texts.ts";

export function Memory(): VNode {
  return <h1 class="ttl">{t.frame.view.memory}</h1>;
}
