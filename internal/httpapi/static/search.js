import { el, when, marked, count, announce } from "./dom.js";
import { get } from "./api.js";

const kinds = ["prompt", "reply", "command", "edit", "output", "summary"];
const ages = { "": "Any time", "24h": "Last 24 hours", "7d": "Last 7 days", "30d": "Last 30 days" };

/** search shows a query's hits. */
export async function search({ main, query, signal, box, go }) {
  const q = query.get("q") ?? "";
  if (document.activeElement !== box) box.value = q;
  const ask = { q, kind: query.getAll("kind"), since: query.get("since"), agents: query.get("agents"), deep: query.get("deep"), project: query.get("project"), session: query.get("session") };
  const change = (name, values) => {
    const to = new URLSearchParams(query);
    to.delete(name);
    for (const v of values) if (v) to.append(name, v);
    go(`#/search?${to}`);
  };
  const list = el("ol", { class: "rows card" });
  const more = el("button", { type: "button", class: "more", hidden: true }, "Show more");
  const notes = el("p", { class: "meta" });
  const filters = panel(ask, change);
  if (!q) {
    main.replaceChildren(el("h1", null, "Search"), filters, help());
    return;
  }
  const add = (found) => {
    list.append(...found.hits.map(hit));
    more.hidden = !found.next;
    more.onclick = async () => add(await get("/search", { ...ask, cursor: found.next }, signal));
  };
  const found = await get("/search", ask, signal);
  add(found);
  notes.append(summary(found));
  announce(count(found.hits.length, "hit"));
  main.replaceChildren(el("h1", { class: "hidden" }, `Search for ${q}`), filters, notes,
    found.hits.length ? list : el("p", { class: "empty" }, "No hits."), more);
}

/** panel renders the filters. */
function panel(ask, change) {
  const kind = (k) => {
    const input = el("input", { type: "checkbox", value: k, checked: ask.kind.includes(k) });
    input.addEventListener("change", () => change("kind", input.checked ? [...ask.kind, k] : ask.kind.filter((x) => x !== k)));
    return el("label", { class: "chip" }, input, k);
  };
  const flag = (name, text) => {
    const input = el("input", { type: "checkbox", checked: !!ask[name] });
    input.addEventListener("change", () => change(name, [input.checked ? "true" : ""]));
    return el("label", { class: "chip" }, input, text);
  };
  const since = el("select", { "aria-label": "Age", onchange: (e) => change("since", [e.target.value]) },
    Object.entries(ages).map(([value, text]) => el("option", { value, selected: value === (ask.since ?? "") }, text)));
  const only = ["session", "project"].filter((name) => ask[name]).map((name) =>
    el("button", { type: "button", class: "chip", title: "Search everything", onclick: () => change(name, []) }, `only ${ask[name].split("/").pop()} ✕`));
  return el("div", { class: "filters", role: "group", "aria-label": "Filters" }, only, kinds.map(kind), flag("agents", "sub-agents"), flag("deep", "whole logs"), since);
}

/** summary describes the result and how the query was relaxed. */
function summary(found) {
  const parts = [`${count(found.hits.length, "hit")}${found.next ? " and more" : ""} in ${Math.round(found.took_ms)} ms`];
  if (found.relaxed === "phrase") parts.push("no passage contains the phrase; these contain its words");
  if (found.relaxed === "prefix") parts.push("no exact match; these match by prefix");
  if (found.hits[0]?.related) parts.push("no passage contains the words; these may be related");
  if (found.in_agents) parts.push("sub-agent runs have hits, too");
  if (found.elsewhere) parts.push("other projects have hits, too");
  return [...parts, ...(found.notes ?? [])].join(" · ");
}

const hit = (h) => el("li", null, el("a", { href: `#/${h.handle}` },
  el("span", { class: "snippet" }, marked(h.snippet, h.marks)),
  el("span", { class: "meta" }, el("code", null, h.handle), ` · ${h.kind} · ${h.project} · `, when(h.time), h.copies ? ` · ${count(h.copies, "copy").replace("copys", "copies")} merged` : "")));

function help() {
  const line = (code, text) => el("tr", null, el("td", null, el("code", null, code)), el("td", null, text));
  return el("div", { class: "card" }, el("table", null, el("tbody", null,
    line("retry policy", "words in any order, and parts of identifiers and paths"),
    line('"retry policy"', "an exact phrase"),
    line("maxBack*", "a prefix"),
    line("file:pay/retry.go bans", "work on a file"),
    line("kind:command since:7d go test", "filters; also project: session: until:"),
    line("why did we change it last week", "a question, with a time"))));
}
