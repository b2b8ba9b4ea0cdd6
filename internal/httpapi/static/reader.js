// The turns that are being read: some in a row, more when the reader scrolls.
import { el, short } from "./dom.js";
import { turn } from "./turn.js";

const most = 30; // turns on the page

/** reader renders turns of a source. seen(i) is called with the turn at the top. */
export function reader(turns, signal, seen) {
  const list = el("div"), end = el("div", { class: "reader-end" });
  const earlier = el("button", { type: "button", class: "more", hidden: true, onclick: () => before() }, "Earlier turns");
  const node = el("div", { class: "reader" }, earlier, list, end);
  const shown = new Map(); // elements by turn number
  let first = 0, last = -1, busy = false, current = 0;
  let opened = 0; // counts calls of open: what an earlier one fetches is dropped
  const make = async (i) => {
    const t = await turns.at(i);
    const made = turn(t, turns.session.project, signal);
    if (t.compactions.length) made.append(...t.compactions.map((c) => marker(c)));
    await made.read();
    return made;
  };
  const drop = (i) => {
    shown.get(i)?.remove();
    shown.delete(i);
  };
  const after = async () => {
    if (busy || last < 0 || last + 1 >= turns.total || signal.aborted) return;
    busy = true;
    const mine = opened;
    try {
      const made = await make(last + 1);
      if (mine !== opened) return;
      shown.set(++last, made);
      list.append(made);
      while (last - first + 1 > most) drop(first++);
      earlier.hidden = first === 0;
    } finally {
      if (mine === opened) busy = false;
    }
    if (end.getBoundingClientRect().top < innerHeight + 800) after();
  };
  const before = async () => {
    if (busy || first === 0) return;
    busy = true;
    const mine = opened, made = await make(first - 1);
    if (mine !== opened) return;
    shown.set(--first, made);
    list.prepend(made);
    earlier.hidden = first === 0;
    busy = false;
  };
  /** open shows a turn at the top. */
  node.open = async (i) => {
    i = Math.max(0, Math.min(i, turns.total - 1));
    if (!shown.has(i)) {
      const mine = ++opened;
      const made = await make(i);
      if (mine !== opened) return shown.get(current) ?? made;
      shown.clear();
      shown.set(i, made);
      list.replaceChildren(made);
      [first, last, busy] = [i, i, false];
      earlier.hidden = i === 0;
    }
    const made = shown.get(i);
    made.scrollIntoView({ block: "start" });
    at(i);
    after();
    return made;
  };
  /** grow shows what a running session wrote. */
  node.grow = async () => {
    const t = await turns.at(last);
    const old = shown.get(last);
    if (t && old) await old.read(true);
    await after();
  };
  node.atEnd = () => last === turns.total - 1 && end.getBoundingClientRect().top < innerHeight + 100;
  node.toEnd = () => list.lastElementChild?.scrollIntoView({ block: "end" });
  const at = (i) => { current = i; seen(i); };
  Object.defineProperty(node, "current", { get: () => current });
  const look = () => {
    for (const [i, made] of [...shown].sort((a, b) => a[0] - b[0])) {
      if (made.getBoundingClientRect().bottom > 160) {
        if (i !== current) at(i);
        break;
      }
    }
  };
  addEventListener("scroll", () => requestAnimationFrame(look), { signal, passive: true });
  const more = new IntersectionObserver((list) => list.some((e) => e.isIntersecting) && after(), { rootMargin: "800px" });
  more.observe(end);
  signal.addEventListener("abort", () => more.disconnect());
  return node;
}

const marker = (c) => el("p", { class: "compacted" }, el("a", { href: `#/${c.handle.split("/")[0]}/compactions?index=${c.index}` },
  `compacted (${c.trigger})${c.pre_tokens ? ` at ${short(c.pre_tokens)} tokens${c.post_tokens ? `, ${short(c.post_tokens)} after` : ""}` : ""}: what was kept and lost`));
