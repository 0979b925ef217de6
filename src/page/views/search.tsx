import type { VNode } from "preact";
import { t } from "../language/texts.ts";

export function Search(): VNode {
  return <h1 class="ttl">{t.frame.view.search}</h1>;
}
