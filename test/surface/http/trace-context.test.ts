import { expect, test } from "bun:test";
import { parseTraceparent } from "../../../src/surface/http/access-log.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test.each([
  { name: "version 00", header: `00-${TRACE}-${SPAN}-01` },
  { name: "any flags", header: `00-${TRACE}-${SPAN}-ff` },
  { name: "blanks around it", header: ` 00-${TRACE}-${SPAN}-00 ` },
  { name: "a later version", header: `cc-${TRACE}-${SPAN}-01` },
  { name: "a later version with more fields", header: `01-${TRACE}-${SPAN}-01-what-ever` },
])("$name is read", ({ header }) => {
  expect(parseTraceparent(header)).toEqual({ traceId: TRACE, parentSpanId: SPAN });
});

test.each([
  { name: "absent", header: null },
  { name: "empty", header: "" },
  { name: "zero trace", header: `00-${"0".repeat(32)}-${SPAN}-01` },
  { name: "zero span", header: `00-${TRACE}-${"0".repeat(16)}-01` },
  { name: "version ff", header: `ff-${TRACE}-${SPAN}-01` },
  { name: "upper case", header: `00-${TRACE.toUpperCase()}-${SPAN}-01` },
  { name: "short trace", header: `00-${TRACE.slice(1)}-${SPAN}-01` },
  { name: "long span", header: `00-${TRACE}-${SPAN}0-01` },
  { name: "no flags", header: `00-${TRACE}-${SPAN}` },
  { name: "more fields than version 00 has", header: `00-${TRACE}-${SPAN}-01-x` },
  { name: "later version, run together", header: `01-${TRACE}-${SPAN}-01x` },
  { name: "no hexadecimal digits", header: `00-${"g".repeat(32)}-${SPAN}-01` },
  { name: "twice", header: `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01` },
])("$name is passed over", ({ header }) => {
  expect(parseTraceparent(header)).toBeUndefined();
});
