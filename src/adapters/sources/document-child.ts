/**
 * The process that takes the text out of one document, so that no file can crash the main one, block it or fill its memory. Its arguments are
 * the kind and the path; it writes JSON to standard output.
 */
import { unzipSync } from "fflate";
import mammoth from "mammoth";
import { extractText, getDocumentProxy } from "unpdf";

/** A page, a slide or a sheet; a text document is one page without a number. */
export type DocumentPage = {
  readonly text: string;
  readonly page?: number;
  readonly heading?: string;
};

/** Unpacked bytes of the XML in an Office file. */
const XML_MAX = 256 * 1024 * 1024;

const READERS: Readonly<Record<string, (path: string) => Promise<readonly DocumentPage[]>>> = {
  pdf: readPdf,
  docx: readWord,
  pptx: async (path) => readSlides(await partsOf(path, /^ppt\/slides\/slide\d+\.xml$/)),
  xlsx: async (path) =>
    readSheets(await partsOf(path, /^xl\/(?:sharedStrings|workbook|worksheets\/sheet\d+)\.xml$/)),
};

async function readPdf(path: string): Promise<readonly DocumentPage[]> {
  const pdf = await getDocumentProxy(await Bun.file(path).bytes());
  const { text } = await extractText(pdf, { mergePages: false });
  return text.map((one, at) => ({ text: one, page: at + 1 }));
}

async function readWord(path: string): Promise<readonly DocumentPage[]> {
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(await Bun.file(path).bytes()) },
    // Pictures are left out.
    { convertImage: mammoth.images.imgElement(async () => ({ src: "" })) },
  );
  const text = value
    .replace(/<h([1-6])[^>]*>(.*?)<\/h\1>/gs, (_, level: string, title: string) => {
      return `\n${"#".repeat(Number(level))} ${title}\n\n`;
    })
    .replace(/<li[^>]*>/g, "- ")
    .replace(/<\/(?:p|li|tr|table)>|<br[^>]*>/g, "\n")
    .replace(/<\/t[dh]>/g, "\t");
  return [{ text: plain(text) }];
}

/** The parts of an Office file whose names match, as text. */
async function partsOf(path: string, names: RegExp): Promise<ReadonlyMap<string, string>> {
  let bytes = 0;
  const parts = unzipSync(await Bun.file(path).bytes(), {
    filter: ({ name, originalSize }) => {
      if (!names.test(name)) return false;
      bytes += originalSize;
      if (bytes > XML_MAX) throw new Error("its XML is too large");
      return true;
    },
  });
  const order = new Intl.Collator("en", { numeric: true });
  const named = Object.entries(parts).sort(([one], [other]) => order.compare(one, other));
  return new Map(named.map(([name, part]) => [name, new TextDecoder().decode(part)]));
}

function readSlides(parts: ReadonlyMap<string, string>): readonly DocumentPage[] {
  return [...parts.values()].map((xml, at) => {
    const lines = [...xml.matchAll(/<a:p\b.*?<\/a:p>/gs)].map(([paragraph]) =>
      [...paragraph.matchAll(/<a:t>(.*?)<\/a:t>/gs)].map(([, text = ""]) => plain(text)).join(""),
    );
    const [heading] = lines.filter((line) => line.trim() !== "");
    return { text: lines.join("\n"), page: at + 1, ...(heading !== undefined && { heading }) };
  });
}

function readSheets(parts: ReadonlyMap<string, string>): readonly DocumentPage[] {
  const shared = [...(parts.get("xl/sharedStrings.xml") ?? "").matchAll(/<si>(.*?)<\/si>/gs)].map(
    ([, item = ""]) => plain(item.replace(/<rPh\b.*?<\/rPh>/gs, "")),
  );
  const names = [...(parts.get("xl/workbook.xml") ?? "").matchAll(/<sheet\b[^>]*?name="([^"]*)"/g)];
  const sheets = [...parts].filter(([name]) => name.startsWith("xl/worksheets/"));
  return sheets.map(([, xml], at) => {
    const rows = [...xml.matchAll(/<row\b.*?<\/row>/gs)].map(([row]) =>
      [...row.matchAll(/<c\b([^>]*)>(.*?)<\/c>/gs)]
        .map(([, attributes = "", cell = ""]) => {
          const [, value = ""] = /<v>(.*?)<\/v>/s.exec(cell) ?? [];
          if (/t="s"/.test(attributes)) return shared[Number(value)] ?? "";
          return plain(value === "" ? cell : value);
        })
        .join("\t"),
    );
    const heading = plain(names[at]?.[1] ?? "");
    return { text: rows.join("\n"), page: at + 1, ...(heading !== "" && { heading }) };
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

/** A text of XML or HTML without its marks. */
function plain(xml: string): string {
  return xml
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:#(x?[0-9a-f]+)|(\w+));/gi, (whole, code, name) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      return String.fromCodePoint(Number(`0${code}`.replace(/^0x/i, "0x")));
    });
}

const [kind = "", path = ""] = process.argv.slice(2);
const read = READERS[kind];
if (read === undefined) throw new Error(`no reader of ${kind}`);
await Bun.write(Bun.stdout, JSON.stringify(await read(path)));
process.exit(0);
