import { EN } from "./en.ts";
import { pseudo } from "./pseudo.ts";

/** All texts of the page; another language has the same members. */
type Texts = typeof EN;

/** Where the language is kept: with the look, the only thing that outlives the tab. */
const PLACE = "svc.language";

/** The texts of the page. They are chosen when it is loaded. */
export const t: Texts = localStorage.getItem(PLACE) === "pseudo" ? pseudo(EN) : EN;
