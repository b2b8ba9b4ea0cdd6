import { el, when, say, count } from "./dom.js";
import { get } from "./api.js";

/** files shows what was done to a file in all sessions. */
export async function files({ main, query, signal, go }) {
  const path = query.get("path") ?? "";
  const input = el("input", { type: "text", id: "path", value: path, placeholder: "pay/retry.go", spellcheck: "false" });
  const reads = el("input", { type: "checkbox", id: "reads", checked: query.has("reads") });
  const ask = () => go(`#/files?${new URLSearchParams({ path: input.value.trim(), ...(reads.checked ? { reads: "true" } : {}) })}`);
  reads.addEventListener("change", ask);
  const form = el("form", { class: "ask", onsubmit: (e) => { e.preventDefault(); ask(); } },
    el("label", { for: "path", class: "hidden" }, "Path of a file, whole or its end"), input,
    el("button", { type: "submit" }, "Show its history"), el("label", { class: "chip" }, reads, "reads as well"));
  if (!path) {
    main.replaceChildren(el("h1", null, "History of a file"), form, el("p", { class: "empty" }, "Every change of it and every command that named it, in all sessions. The path is whole, or its end at a slash."));
    input.focus();
    return;
  }
  const found = await get("/files", { path, reads: reads.checked, limit: 200 }, signal);
  say(count(found.items.length, "entry").replace("entrys", "entries"));
  main.replaceChildren(el("h1", null, path), form,
    found.items.length ? el("div", { class: "card" }, el("ul", { class: "rows" }, found.items.reverse().map(touch))) : el("p", { class: "empty" }, "Nothing was done to it in a session that is kept."),
    found.older ? el("p", { class: "meta" }, `${found.older} older ones left out`) : "");
}

const touch = (t) => el("li", null, el("a", { href: `#/${t.handle}` },
  el("span", { class: "snippet" }, el("strong", null, t.tool), " ", el("code", null, (t.command || t.path).slice(0, 300)), t.failed && [" ", el("span", { class: "badge bad" }, "failed")]),
  el("span", { class: "meta" }, el("code", null, t.handle), " · ", when(t.time))));
