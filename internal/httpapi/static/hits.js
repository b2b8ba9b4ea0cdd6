// The hits of a search within a session: a bar, marked words, keys n and p.
import { el, announce } from "./dom.js";
import { get } from "./api.js";

/** hits renders the bar. show(place, lines) opens a place and returns the element of the lines. */
export async function hits(q, s, show, signal) {
  const found = await get("/search", { q, session: s.session, agents: true, limit: 100 }, signal);
  const list = found.hits.map((h) => ({ ...h, at: h.handle.split("/")[1]?.split(".").map(Number) ?? [0] }))
    .sort((a, b) => a.at[0] - b.at[0] || a.line_from - b.line_from);
  const words = [...new Set(found.hits.flatMap((h) => h.marks.map(([from, to]) => h.snippet.slice(from, to).toLowerCase())))].filter((w) => w.length > 1);
  const where = el("span", { "aria-live": "polite" });
  const node = el("div", { class: "hits", role: "group", "aria-label": "Hits in this session" },
    el("span", null, "Hits for ", el("strong", null, q)), where,
    el("button", { type: "button", onclick: () => step(-1) }, "Previous ", el("kbd", null, "p")),
    el("button", { type: "button", onclick: () => step(1) }, "Next ", el("kbd", null, "n")),
    el("a", { href: `#/${s.handle}` }, "Close"));
  let now = -1;
  const step = async (by) => {
    if (!list.length) return;
    now = (now + by + list.length) % list.length;
    where.textContent = `${now + 1} of ${list.length}`;
    announce(`hit ${now + 1} of ${list.length}`);
    await show(list[now]);
    highlight(words);
  };
  node.step = step;
  /** begin opens the hit at a place. */
  node.begin = async (place) => {
    const i = list.findIndex((h) => h.handle.split("/")[1] === place);
    now = (i < 0 ? 0 : i) - 1;
    if (list.length) await step(1);
    else where.textContent = "none";
  };
  node.mark = () => highlight(words);
  return node;
}

/** highlight marks words in the turns without changing their elements. */
export function highlight(words) {
  if (!globalThis.Highlight) return;
  CSS.highlights.delete("hit");
  if (!words.length) return;
  const escaped = words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})`, "giu");
  const marks = new Highlight();
  const walk = document.createTreeWalker(document.querySelector(".reader") ?? document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n && marks.size < 5000; n = walk.nextNode()) {
    for (const m of n.data.matchAll(pattern)) {
      const range = new Range();
      range.setStart(n, m.index);
      range.setEnd(n, m.index + m[0].length);
      marks.add(range);
    }
  }
  CSS.highlights.set("hit", marks);
}
