import { el, when, marked, count, say } from "./dom.js";
import { get } from "./api.js";

/** search shows what a query finds. */
export async function search({ main, query, signal, box }) {
  const q = query.get("q") ?? "";
  if (document.activeElement !== box) box.value = q;
  if (!q) {
    main.replaceChildren(el("p", { class: "empty" }, "Type what you look for."));
    return;
  }
  const found = await get("/search", { q }, signal);
  say(count(found.hits.length, "hit"));
  main.replaceChildren(el("h1", { class: "hidden" }, "Search"), el("ol", { class: "hits" }, found.hits.map(hit)));
}

const hit = (h) => el("li", null, el("a", { href: `#/${h.handle}` },
  el("span", { class: "meta" }, el("code", null, h.handle), ` · ${h.kind} · ${h.project} · `, when(h.time)),
  el("span", { class: "snippet" }, marked(h.snippet, h.marks))));
