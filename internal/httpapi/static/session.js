import { el, when, bytes, count, copy, lasting } from "./dom.js";
import { get, pathOf } from "./api.js";
import { source } from "./turns.js";
import { rail } from "./rail.js";
import { reader } from "./reader.js";
import { hits } from "./hits.js";
import { follow } from "./live.js";
import { curve } from "./curve.js";
import { tabs } from "./parts.js";

const names = { "": "Turns", tasks: "Tasks", files: "Files", compactions: "Compactions", restore: "Restored context" };

/** session shows a session; the handle may name one of its turns or steps. */
export async function session(view) {
  const { main, path, query, signal } = view;
  const [id, place = ""] = path.split("/");
  const [turns, state] = await Promise.all([source(id, signal), get("/running", null, signal).catch(() => ({ items: [] }))]);
  const s = turns.session;
  document.title = `${s.title || s.handle} · Strandline`;
  const tab = names[place] ? place : "";
  const body = el("div");
  const chart = el("div", { class: "chart" });
  const live = el("span", { class: "live", hidden: true }, "working");
  const top = el("div", { class: "session-head" },
    el("h1", null, s.title || "(no prompt)", " ", live),
    el("p", { class: "meta" }, el("code", null, s.handle), ` · `, el("a", { href: `#/?project=${encodeURIComponent(s.project)}`, title: s.project }, s.project_name), " · ", when(s.last), ` · ${facts(s)}`,
      s.parent && [" · part of ", el("a", { href: `#/${s.parent.slice(0, 8)}` }, s.parent.slice(0, 8))]),
    el("p", { class: "actions" }, copy(resume(s), resume(s), "Copy resume command"), copy(s.handle, s.handle, "Copy handle"), copy(`${location.origin}/#/${s.handle}`, "Copy a link to this session", "Copy link"),
      el("a", { class: "button", href: `#/search?session=${encodeURIComponent(s.handle)}`, onclick: () => setTimeout(() => view.box.focus()) }, "Search in it")),
    chart,
    el("nav", { class: "tabs", "aria-label": "Parts of the session" }, Object.entries(names).map(([key, text]) =>
      el("a", { href: `#/${s.handle}${key && `/${key}`}`, "aria-current": key === tab ? "page" : undefined }, text, key === "compactions" && s.compactions ? ` (${s.compactions})` : ""))));
  curve(chart, s, signal, (handle) => { location.hash = `#/${handle}`; });
  if (tab) {
    main.replaceChildren(top, body);
    await tabs[tab]({ ...view, s, body });
    return;
  }
  await read({ ...view, s, turns, state, top, place, live, q: query.get("q") });
}

const facts = (s) => [count(s.turns, "turn"), count(s.steps, "step"), count(s.calls, "call"), lasting((new Date(s.last) - new Date(s.first)) / 1000), bytes(s.bytes), s.model, s.branch].filter(Boolean).join(" · ");

const resume = (s) => `strandline resume ${s.handle}`;

/** read shows the rail and the turns. */
async function read({ main, s, turns, state, top, place, q, signal, keys, live }) {
  const turn = Number(place.split(".")[0]) || 0;
  let node; // the reader
  const side = rail(turns, (i) => node.open(i));
  node = reader(turns, signal, (i) => {
    side.mark(i);
    if (signal.aborted || !location.hash.startsWith(`#/${s.handle}`)) return; // the reader has left
    history.replaceState(null, "", `#/${s.handle}${i || place ? `/${i}` : ""}${q ? `?q=${encodeURIComponent(q)}` : ""}`);
  });
  const shelf = el("details", { class: "shelf", open: matchMedia("(min-width: 60rem)").matches }, el("summary", null, count(s.turns, "turn")), side);
  const bar = el("div", { class: "bar" });
  main.replaceChildren(el("div", { class: "with-rail" }, shelf, el("div", { class: "column" }, top, bar, node)));
  Object.assign(keys, {
    j: () => node.open(node.current + 1), k: () => node.open(node.current - 1), g: () => node.open(0), G: () => node.open(turns.total - 1),
    o: () => toggle(document.getElementById(`t${node.current}`)),
  });
  const working = () => (live.hidden = !state.items.find((r) => r.session === s.session)?.working);
  working();
  if (turns.total > 0) {
    const made = await node.open(!place && !live.hidden ? turns.total - 1 : turn);
    if (!place && live.hidden) scrollTo(0, 0);
    if (place.includes(".") && !q) await toStep(made, s, place, signal);
  }
  if (q) {
    const found = await hits(q, s, (h) => toHit(node, h), signal);
    bar.replaceChildren(found);
    Object.assign(keys, { n: () => found.step(1), p: () => found.step(-1) });
    await found.begin(place);
  }
  follow(signal, s.handle, async () => {
    const bottom = node.atEnd();
    await turns.grow();
    side.grow();
    await node.grow();
    Object.assign(state, await get("/running", null, signal));
    working();
    if (bottom) node.toEnd();
  });
}

/** toggle opens all calls of a turn, or closes them if they are open. */
function toggle(turn) {
  const all = [...(turn?.querySelectorAll("details") ?? [])];
  const open = all.some((d) => !d.open);
  for (const d of all) d.open = open;
}

/** toStep scrolls to a step of a turn. */
async function toStep(made, s, place, signal) {
  const step = await get(`${pathOf(s.handle)}/turns/${place}`, null, signal);
  const line = step.blocks.find((b) => !b.own && (b.text.trim() || b.kind === "tool_use"))?.line;
  reveal(made.querySelector(`[data-line="${line}"]`) ?? made);
}

/** toHit opens the turn of a hit and scrolls to its lines. */
async function toHit(node, h) {
  const made = await node.open(h.at[0]);
  const isOf = (b) => [b.dataset.line, b.dataset.result].some((l) => l !== undefined && Number(l) >= h.line_from && Number(l) < h.line_to);
  reveal([...made.querySelectorAll(".block")].find(isOf) ?? made);
}

function reveal(block) {
  document.querySelector(".block.here")?.classList.remove("here");
  block.classList.add("here");
  for (const d of block.querySelectorAll("details")) {
    d.build?.();
    d.open = true;
  }
  block.scrollIntoView({ block: "center" });
}
