import { naivePlace } from "./naive-place.ts";
import { runRetrievalContract } from "./store-contract.ts";

runRetrievalContract("a naive one in memory", naivePlace);
