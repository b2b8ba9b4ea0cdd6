// The list of a session's turns. Only visible rows are elements.
import { el, change, short } from "./dom.js";

const height = 52; // of a row in pixels, as in the style sheet
const around = 8; // rows above and below the visible ones

/** rail renders the turns of a source. go(i) opens a turn. */
export function rail(turns, go) {
  const list = el("ol", { class: "rail-list" });
  const node = el("nav", { class: "rail", "aria-label": "Turns", tabindex: "0" }, list);
  const rows = new Map();
  let current = 0;
  const draw = () => {
    list.style.height = `${turns.total * height}px`;
    const from = Math.max(0, Math.floor(node.scrollTop / height) - around);
    const to = Math.min(turns.total, Math.ceil((node.scrollTop + node.clientHeight) / height) + around);
    for (const [i, row] of rows) {
      if (i < from || i >= to) {
        row.remove();
        rows.delete(i);
      }
    }
    for (let i = from; i < to; i++) if (!rows.has(i)) add(i);
  };
  const add = (i) => {
    const row = el("li", { "aria-setsize": turns.total, "aria-posinset": i + 1 });
    row.style.top = `${i * height}px`;
    rows.set(i, row);
    const next = [...rows.keys()].filter((k) => k > i).sort((a, b) => a - b)[0];
    list.insertBefore(row, rows.get(next) ?? null);
    turns.at(i).then((t) => t && fill(row, t, i), () => {});
  };
  const fill = (row, t, i) => row.replaceChildren(el("a", { href: `#/${t.handle}`, "aria-current": i === current ? "true" : undefined, class: t.dead ? "dead" : undefined,
    onclick: (e) => { if (!e.ctrlKey && !e.metaKey) { e.preventDefault(); go(i); } } },
  el("span", { class: "rail-title" }, el("span", { class: "dim" }, `${t.handle.split("/")[1]} `), t.title || "(no prompt)"),
  el("span", { class: "meta" }, [t.tokens ? short(t.tokens) : "", `${t.steps} steps`, t.failed ? `${t.failed} failed` : ""].filter(Boolean).join(" · "), " ", change(t.added, t.removed),
    t.compactions.length > 0 && el("span", { class: "warn", title: "compacted in this turn" }, " ⇊"))));
  node.addEventListener("scroll", () => requestAnimationFrame(draw));
  new ResizeObserver(draw).observe(node);
  /** mark shows which turn is being read. */
  node.mark = (i) => {
    if (i === current && rows.get(i)?.querySelector("[aria-current]")) return;
    rows.get(current)?.firstElementChild?.removeAttribute("aria-current");
    current = i;
    const top = i * height;
    if (top < node.scrollTop || top + height > node.scrollTop + node.clientHeight) node.scrollTop = top - node.clientHeight / 3;
    draw();
    rows.get(i)?.firstElementChild?.setAttribute("aria-current", "true");
  };
  /** grow shows turns that are new or changed. */
  node.grow = () => {
    for (const row of rows.values()) row.remove();
    rows.clear();
    draw();
  };
  return node;
}
