/**
 * The script of the documentation page: it shows the forms and sends them to the server that the page came from. The key is kept
 * only in its field. Answers are shown as text and never parsed as markup.
 */
export const SCRIPT = `
const access = document.getElementById("access");
const key = document.getElementById("key");
const ids = document.getElementById("ids");
const ID = /"(\\w+)":\\s*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g;

const make = (name, text, kind = "") => {
  const node = document.createElement(name);
  node.textContent = text;
  node.className = kind;
  return node;
};

const valuesOf = (field) =>
  (field.multiple ? [...field.selectedOptions].map(({ value }) => value) : [field.value.trim()])
    .filter((value) => value !== "");

const requestOf = (form) => {
  const { method, path, secured } = form.dataset;
  const headers = new Headers();
  const query = new URLSearchParams();
  let target = path.slice(1);
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    for (const value of valuesOf(field)) {
      if (field.dataset.in === "path") target = target.replace("{" + field.name + "}", encodeURIComponent(value));
      if (field.dataset.in === "query") query.append(field.name, value);
      if (field.dataset.in === "header") headers.set(field.name, value);
      if (field.dataset.in === "body") body = value;
    }
  }
  if (body !== undefined) headers.set("content-type", "application/json");
  if (secured !== undefined && key.value !== "") headers.set("authorization", "Bearer " + key.value);
  const asked = query.toString();
  return [asked === "" ? target : target + "?" + asked, { method, headers, body, cache: "no-store" }];
};

const readable = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

const offerIds = (text) => {
  for (const [, name, id] of text.matchAll(ID)) {
    if ([...ids.options].some(({ value }) => value === id)) continue;
    const option = make("option", name);
    option.value = id;
    ids.prepend(option);
  }
};

const send = async (form) => {
  const shown = form.querySelector(".answer");
  const button = form.querySelector("button");
  button.disabled = true;
  shown.replaceChildren(make("p", "Waiting for the answer"));
  const start = performance.now();
  try {
    const answer = await fetch(...requestOf(form));
    const text = await answer.text();
    const took = Math.round(performance.now() - start) + " ms";
    const status = make("p", answer.status + " " + answer.statusText, answer.ok ? "good" : "bad");
    status.append(make("span", took, "note"));
    const headers = [...answer.headers].map(([name, value]) => name + ": " + value).join("\\n");
    shown.replaceChildren(status, make("pre", headers), make("pre", readable(text)));
    offerIds(text);
  } catch (error) {
    shown.replaceChildren(make("p", "There was no answer: " + error.message, "bad"));
  } finally {
    button.disabled = false;
  }
};

access.hidden = false;
addEventListener("pagehide", () => { key.value = ""; });
for (const form of document.querySelectorAll("form.try")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
}
`;
