import { el, svg, when, moment, bytes, count, short } from "./dom.js";
import { get, pathOf } from "./api.js";
import { turn } from "./turn.js";
import { follow } from "./sessions.js";
import { outcomes } from "./compactions.js";

const tabs = { "": "Turns", tasks: "Tasks", files: "Files", compactions: "Compactions", restore: "Restored context" };

/** session shows a session; the handle may name one of its turns or steps. */
export async function session(view) {
  const { main, path, signal } = view;
  const [id, place = ""] = path.split("/");
  const s = await get(pathOf(id), null, signal);
  const course = await get(`${pathOf(id)}/timeline`, null, signal);
  const tab = tabs[place] ? place : "";
  const body = el("div");
  main.replaceChildren(
    el("h1", null, s.title || "(no prompt)"),
    el("p", { class: "meta" }, el("code", null, s.handle), ` · ${s.project} · `, when(s.last), ` · ${[count(s.turns, "turn"), count(s.steps, "step"), count(s.calls, "call"), bytes(s.bytes), s.model, s.branch].filter(Boolean).join(" · ")}`,
      s.parent && [" · part of ", el("a", { href: `#/${s.parent.slice(0, 8)}` }, s.parent.slice(0, 8))]),
    curve(course),
    el("nav", { class: "tabs", "aria-label": "Parts of the session" }, Object.entries(tabs).map(([key, text]) =>
      el("a", { href: `#/${s.handle}${key && `/${key}`}`, "aria-current": key === tab ? "page" : undefined }, text)),
    el("a", { href: `#/search?session=${encodeURIComponent(s.handle)}`, onclick: () => setTimeout(() => view.box.focus()) }, "Search in it")),
    body);
  await { "": turns, tasks, files, compactions, restore }[tab]({ ...view, s, course, body, place });
}

/** curve draws the context's tokens over time, with its compactions. */
function curve(course) {
  const points = course.tokens;
  if (points.length < 3) return undefined;
  const top = Math.max(...points);
  const x = (i) => (1000 * i) / (points.length - 1), y = (n) => 100 - (96 * n) / top;
  const drawing = svg("svg", { class: "course", viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img",
    "aria-label": `Tokens in the context, up to ${short(top)}, with ${count(course.compactions.length, "compaction")}` },
    svg("path", { class: "area", d: `M0,100 ${points.map((n, i) => `L${x(i).toFixed(1)},${y(n).toFixed(1)}`).join(" ")} L1000,100 Z` }));
  points.forEach((n, i) => {
    if (i > 0 && n < points[i - 1] * 0.6) drawing.append(svg("path", { class: "compaction", d: `M${x(i)},0 V100` }));
  });
  return el("figure", null, drawing, el("figcaption", { class: "meta" }, `Tokens in the context, up to ${short(top)}${course.compactions.length ? `; ${count(course.compactions.length, "compaction")}` : ""}`));
}

/** turns lists the turns and the compactions between them. */
async function turns({ s, course, body, place, signal }) {
  const list = el("div");
  const nodes = new Map();
  const compacted = new Map();
  for (const c of course.compactions) compacted.set(c.handle, [...(compacted.get(c.handle) ?? []), c]);
  const add = (t) => {
    const node = turn(t, signal);
    nodes.set(t.handle.split("/")[1], node);
    list.append(node, ...(compacted.get(t.handle) ?? []).map((c) => marker(c, s)));
  };
  s.turn_list.forEach(add);
  body.replaceChildren(list, s.files.length ? el("p", { class: "meta" }, `${count(s.files.length, "client file")} stored with the transcript`) : "");
  follow(signal, s.handle, async () => {
    const now = await get(pathOf(s.handle), null, signal);
    now.turn_list.filter((t) => !nodes.has(t.handle.split("/")[1])).forEach(add);
  });
  const target = nodes.get(place.split(".")[0]) ?? (nodes.size === 1 ? [...nodes.values()][0] : undefined);
  if (!target) return;
  target.open = true;
  await target.read();
  await scrollTo(target, s, place, signal);
}

/** scrollTo scrolls to a turn or one of its steps. */
async function scrollTo(node, s, place, signal) {
  if (!place) return;
  let target = node;
  if (place.includes(".")) {
    const step = await get(`${pathOf(s.handle)}/turns/${place}`, null, signal);
    const line = step.blocks.find((b) => b.text.trim() || b.kind === "tool_use")?.line;
    target = node.querySelector(`[data-line="${line}"]`) ?? node;
    target.classList.add("here");
  }
  target.scrollIntoView({ block: "start" });
}

const marker = (c, s) => el("p", { class: "compacted" }, el("span", null,
  `compacted (${c.trigger})${c.pre_tokens ? `, ${short(c.pre_tokens)} tokens${c.post_tokens ? ` to ${short(c.post_tokens)}` : ""}` : ""} · `, el("a", { href: `#/${s.handle}/compactions` }, "details")));

/** tasks shows the session's tasks with their sub-agents' tasks. */
async function tasks({ s, body, signal }) {
  const { items } = await get(`${pathOf(s.handle)}/tasks`, null, signal);
  const colours = { completed: "good", in_progress: "warn", pending: "dim" };
  const item = (t) => el("li", null,
    el("span", { class: `badge ${colours[t.status] ?? "bad"}` }, t.status.replace("_", " ")), " ",
    el("a", { href: `#/${t.handle}` }, t.subject || `task ${t.id}`), el("span", { class: "meta" }, ` · ${t.agent_type ? `${t.agent_type}, ` : ""}${t.kind} · ${count(t.steps, "step")}`),
    t.agent_handle && [" · ", el("a", { href: `#/${t.agent_handle}` }, "its run")],
    t.result && el("pre", { class: "meta" }, t.result),
    t.tasks?.length && el("ul", null, t.tasks.map(item)));
  body.replaceChildren(items.length ? el("ul", { class: "tree card" }, items.map(item)) : el("p", { class: "empty" }, "No tasks in this session."));
}

/** files lists the files that the session touched. */
async function files({ s, body, signal }) {
  const { items } = await get(`${pathOf(s.handle)}/files`, null, signal);
  body.replaceChildren(items.length ? el("div", { class: "card" }, el("table", null,
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "File"), el("th", { class: "n", scope: "col" }, "Changes"), el("th", { class: "n wide", scope: "col" }, "Reads"), el("th", { scope: "col" }, "Last"))),
    el("tbody", null, items.map((f) => el("tr", null,
      el("td", null, el("a", { href: `#/files?path=${encodeURIComponent(f.path)}` }, f.path)),
      el("td", { class: "n" }, f.changes), el("td", { class: "n wide" }, f.reads), el("td", null, el("a", { href: `#/${f.handle}` }, f.handle.split("/")[1]))))))) : el("p", { class: "empty" }, "This session touched no files."));
}

/** compactions shows the outcomes of the session's compactions. */
async function compactions({ s, body, signal }) {
  const { items } = await get(`${pathOf(s.handle)}/compactions`, null, signal);
  body.replaceChildren(outcomes(items));
}

/** restore shows the context that a compaction would restore now. */
async function restore({ s, body, query, signal, go }) {
  const role = query.get("role") ?? "";
  const block = await get(`${pathOf(s.handle)}/restore`, { role }, signal);
  const select = el("select", { id: "role", onchange: () => go(`#/${s.handle}/restore${select.value ? `?role=${select.value}` : ""}`) },
    ["", "orchestrator", "developer", "specialist", "validator"].map((r) => el("option", { value: r, selected: r === role }, r || "any role")));
  body.replaceChildren(
    el("p", { class: "filters" }, el("label", { for: "role", class: "dim" }, "Role"), select, el("span", { class: "meta" }, `${block.chars.toLocaleString("en")} characters, as of ${moment(s.last)}`)),
    block.text ? el("pre", { class: "card record" }, block.text) : el("p", { class: "empty" }, "Nothing to restore for this session."));
}
