import { render } from "preact";
import { key, redeemCode } from "./data/http.ts";
import { followAddress } from "./data/place.ts";
import { followServer, forgetAnswers } from "./data/server.ts";
import { applyLook, Frame } from "./frame.tsx";
import { listenToKeys } from "./parts/keys.ts";

applyLook();
followAddress();
listenToKeys();
key.subscribe(forgetAnswers);
await redeemCode();
followServer();
const root = document.getElementById("page");
if (root !== null) {
  root.replaceChildren();
  render(<Frame />, root);
}
