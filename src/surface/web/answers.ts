/** An answer may hold memories: no cache keeps it, and no browser takes it for anything but JSON. */
const JSON_HEADERS = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** A JSON answer with the headers that every one of them carries. */
export function answerJson(
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { ...JSON_HEADERS, ...headers } });
}

/** The answer to a request that is refused: `{detail}`. */
export function refuse(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return answerJson({ detail }, status, headers);
}
