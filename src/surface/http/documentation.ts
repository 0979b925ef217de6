import { answerJson } from "../listener/answers.ts";
import type { HttpApp } from "./app-env.ts";

/** Both usual paths of API documentation show the same page. */
const PAGE_PATHS = ["/docs", "/redoc"] as const;

/** Paths served in addition to the operations, without credentials. */
export const DOCUMENTATION_PATHS = ["/", "/openapi.json", ...PAGE_PATHS] as const;

/** Loaded on first use: serving memories needs neither the document nor the page. */
export function addDocumentation(app: HttpApp, version: string): void {
  const document = once(async () => (await import("./openapi.ts")).buildOpenApi(version));
  const page = once(async () => {
    const { DOCS_POLICY, docsPage } = await import("./docs-page.ts");
    return { text: docsPage(await document()), policy: DOCS_POLICY };
  });
  app.get("/", (context) => {
    context.set("route", "/");
    return new Response(null, { status: 302, headers: { location: PAGE_PATHS[0] } });
  });
  app.get("/openapi.json", async (context) => {
    context.set("route", "/openapi.json");
    return answerJson(await document());
  });
  for (const path of PAGE_PATHS) {
    app.get(path, async (context) => {
      context.set("route", path);
      const { text, policy } = await page();
      return new Response(text, {
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": policy,
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
        },
      });
    });
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
