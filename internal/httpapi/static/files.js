import { el, when, announce, count } from "./dom.js";
import { get } from "./api.js";

/** files shows a file's history in all sessions. */
export async function files({ main, query, signal, go }) {
  const path = query.get("path") ?? "";
  const input = el("input", { type: "text", id: "path", value: path, placeholder: "pay/retry.go", spellcheck: "false" });
  const reads = el("input", { type: "checkbox", id: "reads", checked: query.has("reads") });
  const ask = () => go(`#/files?${new URLSearchParams({ path: input.value.trim(), ...(reads.checked ? { reads: "true" } : {}) })}`);
  reads.addEventListener("change", ask);
  const form = el("form", { class: "ask", onsubmit: (e) => { e.preventDefault(); ask(); } },
    el("label", { for: "path", class: "hidden" }, "Path of a file, or its end"), input,
    el("button", { type: "submit" }, "Show history"), el("label", { class: "chip" }, reads, "include reads"));
  if (!path) {
    main.replaceChildren(el("h1", null, "History of a file"), form, el("p", { class: "empty" }, "Lists every change of the file and every command that named it, in all sessions. Enter a full path or its end after a slash."));
    input.focus();
    return;
  }
  const found = await get("/files", { path, reads: reads.checked, limit: 200 }, signal);
  announce(count(found.items.length, "entry").replace("entrys", "entries"));
  main.replaceChildren(el("h1", null, path), form,
    found.items.length ? el("div", { class: "card" }, el("ul", { class: "rows" }, found.items.reverse().map(touch))) : el("p", { class: "empty" }, "No archived session touched this file."),
    found.older ? el("p", { class: "meta" }, `${found.older} older entries omitted`) : "");
}

const touch = (t) => el("li", null, el("a", { href: `#/${t.handle}` },
  el("span", { class: "snippet" }, el("strong", null, t.tool), " ", el("code", null, (t.command || t.path).slice(0, 300)), t.failed && [" ", el("span", { class: "badge bad" }, "failed")]),
  el("span", { class: "meta" }, el("code", null, t.handle), " · ", when(t.time))));
