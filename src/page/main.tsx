import { render } from "preact";
import { sendHeldOnLeave } from "./data/changes.ts";
import { key } from "./data/http.ts";
import { applyLook } from "./data/look.ts";
import { followAddress } from "./data/place.ts";
import { forgetAnswers } from "./data/query.ts";
import { followServer } from "./data/server.ts";
import { redeemCode } from "./data/session.ts";
import { Frame } from "./frame.tsx";
import { listenToKeys } from "./parts/keys.ts";

applyLook();
followAddress();
listenToKeys();
sendHeldOnLeave();
key.subscribe(forgetAnswers);
await redeemCode();
followServer();
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<Frame />, root);
}
