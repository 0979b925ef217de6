export const JSON_TYPE = "application/json";
export const STREAM_TYPE = "text/event-stream";

/** Whether a request accepts an answer of this type (RFC 9110, section 12.5.1). Without `Accept` it accepts any. */
export function accepts({ headers }: Request, type: string): boolean {
  const accept = headers.get("accept");
  if (accept === null || accept.trim() === "") return true;
  const ranges = [type, type.replace(/\/.*/, "/*"), "*/*"];
  return accept.split(",").some((text) => {
    const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
    return ranges.includes(range) && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
}
