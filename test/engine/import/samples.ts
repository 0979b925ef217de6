import { afterEach } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Zippable, zipSync } from "fflate";

/** Sources as their programs publish their formats; none was made by anybody's account. */

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-source-"));
  folders.push(folder);
  return folder;
}

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A folder with these files. */
export function folderOf(files: Files): string {
  const folder = newFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return folder;
}

export function fileOf(content: string | Uint8Array, name = "a-file"): string {
  return join(folderOf({ [name]: content }), name);
}

export function zipOf(files: Files, name = "a.bin"): string {
  const entries = Object.entries(files).map(([path, content]) => [
    path,
    typeof content === "string" ? new TextEncoder().encode(content) : content,
  ]);
  return fileOf(zipSync(Object.fromEntries(entries) as Zippable), name);
}

export const jsonLines = (...lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

type TreeNode = {
  readonly id: string;
  readonly parent?: string;
  readonly role?: string;
  readonly text?: string;
  readonly time?: number | null;
  readonly message?: object;
};

/** A conversation of ChatGPT. @param nodes in any order; without `role`: a node without a message */
export function tree(id: string, nodes: readonly TreeNode[], more: object = {}) {
  const mapping = nodes.map(({ id: own, parent, role, text, time = null, message }) => [
    own,
    {
      id: own,
      parent: parent ?? null,
      children: nodes.filter((one) => one.parent === own).map((one) => one.id),
      message:
        role === undefined
          ? null
          : {
              id: own,
              author: { role },
              create_time: time,
              content: { content_type: "text", parts: [text] },
              metadata: {},
              recipient: "all",
              ...message,
            },
    },
  ]);
  return {
    title: `About ${id}`,
    create_time: 1_700_000_000.25,
    update_time: 1_700_000_100,
    mapping: Object.fromEntries(mapping),
    conversation_id: id,
    ...more,
  };
}

export const CHATGPT = [
  tree(
    "c1",
    [
      { id: "root" },
      { id: "sys", parent: "root", role: "system", text: "be kind" },
      { id: "u1", parent: "sys", role: "user", text: "I moved to Lisbon.", time: 1_700_000_001.5 },
      { id: "a0", parent: "u1", role: "assistant", text: "A dropped answer.", time: 1_700_000_002 },
      { id: "a1", parent: "u1", role: "assistant", text: "Lisbon it is.", time: 1_700_000_003 },
      { id: "u2", parent: "a1", role: "user", text: "My cat is Momo.", time: null },
    ],
    { current_node: "u2" },
  ),
];

export const CLAUDE_AI = [
  {
    uuid: "conv-1",
    name: "Trip",
    created_at: "2024-05-01T10:00:00Z",
    updated_at: "2024-05-01T10:05:00Z",
    chat_messages: [
      {
        uuid: "m1",
        sender: "human",
        text: "",
        content: [{ type: "text", text: "I am allergic to nuts." }],
        created_at: "2024-05-01T10:00:01.123456Z",
        attachments: [{ file_name: "menu.pdf", file_size: 12, extracted_content: "soup" }],
        files: [],
      },
      {
        uuid: "m2",
        sender: "assistant",
        text: "Noted.",
        content: [{ type: "tool_use", name: "x" }],
        created_at: "2024-05-01T10:00:02Z",
        attachments: [],
        files: [],
      },
    ],
  },
];

export const TAKEOUT = ["What is a fjord?", "Where is Bergen?"].map((question, at) => ({
  header: "Gemini Apps",
  title: `Eingegebener Prompt: ${question}`,
  time: `2024-06-0${at + 1}T08:00:00.000Z`,
  products: ["Gemini Apps"],
  safeHtmlItem:
    at === 0 ? [{ html: "<p>An <b>inlet</b> &amp; deep.</p><ul><li>old</li></ul>" }] : [],
}));

export const CLAUDE_CODE = jsonLines(
  { type: "summary", summary: "Work", leafUuid: "x" },
  {
    ...{ type: "user", uuid: "u1", parentUuid: null, sessionId: "s1", cwd: "/work/shop" },
    timestamp: "2026-01-02T03:04:05.678Z",
    message: { role: "user", content: "Use tabs. <system-reminder>x</system-reminder>" },
  },
  {
    ...{ type: "assistant", uuid: "a1", parentUuid: "u1", sessionId: "s1" },
    timestamp: "2026-01-02T03:04:06.000Z",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Tabs it is." },
      ],
    },
  },
  {
    ...{ type: "user", uuid: "t1", parentUuid: "a1", sessionId: "s1" },
    message: { role: "user", content: [{ type: "tool_result", content: "42 files" }] },
  },
);

export const CODEX = jsonLines(
  {
    timestamp: "2026-01-02T03:04:05Z",
    type: "session_meta",
    payload: { id: "cx1", cwd: "/work/api" },
  },
  {
    ...{ timestamp: "2026-01-02T03:04:06Z", type: "response_item" },
    payload: {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "Prefer Postgres." }],
    },
  },
  {
    ...{ timestamp: "2026-01-02T03:04:07Z", type: "response_item" },
    payload: {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "rules" }],
    },
  },
  {
    ...{ timestamp: "2026-01-02T03:04:08Z", type: "response_item" },
    payload: {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "Postgres then." }],
    },
  },
);

export const GEMINI_CLI = jsonLines(
  { sessionId: "g1", projectHash: "abc", startTime: "2026-01-02T03:04:05Z" },
  { id: "1", timestamp: "2026-01-02T03:04:06Z", type: "user", content: "I like blue." },
  {
    id: "2",
    timestamp: "2026-01-02T03:04:07Z",
    type: "gemini",
    content: [{ text: "Blue noted." }],
  },
  { id: "3", timestamp: "2026-01-02T03:04:08Z", type: "user", content: "Undone." },
  { $rewindTo: "2" },
);

export const GRAPH = [
  {
    type: "entity",
    name: "Anna",
    entityType: "person",
    observations: ["Speaks Basque", "Speaks Basque"],
  },
  { type: "entity", name: "Porto", entityType: "city", observations: [] },
  { type: "relation", from: "Anna", to: "Porto", relationType: "lives_in" },
] as const;

export const MEM0 = {
  results: [
    {
      ...{ id: "0d3a6f0e-1111-4222-8333-444455556666", memory: "Likes climbing", hash: "abc" },
      ...{ metadata: { a: 1 }, created_at: "2026-01-02T03:04:05-07:00", updated_at: null },
      ...{ user_id: "anna", run_id: "r1" },
    },
  ],
};

export const ORIGINAL = {
  nodes: [
    {
      ...{ id: "n1", node_type: "fact", content: "Tea over coffee", source_type: "user_stated" },
      ...{ lifecycle_state: "stable", evidence_refs: ["e1"], created_at: "2026-01-02T03:04:05Z" },
    },
    {
      ...{ id: "n2", node_type: "entity", content: "Tea", source_type: "system_inferred" },
      ...{ lifecycle_state: "tentative", evidence_refs: [], created_at: "2026-01-02T03:04:05Z" },
    },
    {
      id: "n3",
      node_type: "fact",
      content: "Old",
      lifecycle_state: "superseded",
      evidence_refs: [],
    },
  ],
  edges: [{ id: "x", source_id: "n1", target_id: "n2", edge_type: "mentions" }],
  events: [
    { id: "e1", content: "Tea over coffee", role: "user", timestamp: "2026-01-02T03:04:05Z" },
    { id: "e2", content: "Hello there", role: "user", timestamp: "2026-01-02T03:04:06Z" },
  ],
};

/** A PDF with a line of text on each page. */
export function pdfOf(...pages: readonly string[]): Uint8Array {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, at) => {
      const stream = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let pdf = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = pdf.length;
    pdf += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  pdf += `xref\n0 ${size}\n0000000000 65535 f \n${places.join("")}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${pdf.lastIndexOf("xref\n0")}\n%%EOF\n`;
  return new TextEncoder().encode(pdf);
}

const TYPES = (part: string, type: string): Files => ({
  "[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
  "_rels/.rels": `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${part}"/></Relationships>`,
});

/** Office documents as small as programs read them. */
export const OFFICE: Readonly<Record<string, Files>> = {
  docx: {
    ...TYPES("word/document.xml", "wordprocessingml.document"),
    "word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Menu</w:t></w:r></w:p><w:p><w:r><w:t>Lentil soup &amp; bread.</w:t></w:r></w:p></w:body></w:document>`,
    "word/styles.xml": `<?xml version="1.0"?><w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    "word/_rels/document.xml.rels": `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
  },
  pptx: {
    ...TYPES("ppt/presentation.xml", "presentationml.presentation"),
    "ppt/presentation.xml": "<p:presentation/>",
    "ppt/slides/slide1.xml":
      "<p:sld><a:p><a:r><a:t>Plan</a:t></a:r></a:p><a:p><a:r><a:t>Ship in </a:t></a:r><a:r><a:t>May</a:t></a:r></a:p></p:sld>",
    "ppt/slides/slide2.xml": "<p:sld><a:p><a:r><a:t>Risks</a:t></a:r></a:p></p:sld>",
  },
  xlsx: {
    ...TYPES("xl/workbook.xml", "spreadsheetml.sheet"),
    "xl/workbook.xml": '<workbook><sheets><sheet name="Costs" sheetId="1"/></sheets></workbook>',
    "xl/sharedStrings.xml": "<sst><si><t>Rent</t></si></sst>",
    "xl/worksheets/sheet1.xml":
      '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>1200</v></c></row></sheetData></worksheet>',
  },
};
