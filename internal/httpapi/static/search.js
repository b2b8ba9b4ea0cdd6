import { el, when, marked, count, announce, empty } from "./dom.js";
import { get } from "./api.js";

const kinds = ["prompt", "reply", "thinking", "command", "edit", "output", "summary"];
const ages = { "": "Any time", "24h": "Last 24 hours", "7d": "Last 7 days", "30d": "Last 30 days" };
const most = 3; // hits of a session that are shown at once

/** search shows a query's hits, grouped by session. */
export async function search({ main, query, signal, box, go }) {
  const q = query.get("q") ?? "";
  if (document.activeElement !== box) box.value = q;
  const ask = { q, limit: 50, kind: query.getAll("kind"), since: query.get("since"), until: query.get("until"), branch: query.get("branch"), failed: query.get("failed"), agents: query.get("agents"), deep: query.get("deep"), project: query.get("project"), session: query.get("session") };
  const change = (name, values) => {
    const to = new URLSearchParams(query);
    to.delete(name);
    for (const v of values) if (v) to.append(name, v);
    go(`#/search?${to}`);
  };
  const filters = panel(ask, change);
  if (!q) {
    main.replaceChildren(el("div", { class: "column" }, el("h1", null, "Search"), filters, help()));
    return;
  }
  const found = await get("/search", ask, signal);
  const groups = new Map();
  for (const h of found.hits) groups.set(h.session, [...(groups.get(h.session) ?? []), h]);
  announce(`${count(found.hits.length, "hit")} in ${count(groups.size, "session")}`);
  main.replaceChildren(el("div", { class: "column" }, el("h1", { class: "hidden" }, `Search for ${q}`), filters, corrections(found),
    el("p", { class: "meta" }, summary(found, groups.size)),
    found.hits.length ? el("div", { class: "groups" }, [...groups.values()].map((list) => group(list, q))) : nothing(found, q, ask)));
}

/** corrections says, above the hits, which words were replaced. */
const corrections = (found) => (found.corrected ?? []).map((c) => el("p", { class: "note", role: "status" }, "No passage contains ", el("strong", null, c.typed), "; showing ", c.kin ? "the synonym " : "", el("strong", null, c.sought), ". ",
  el("a", { href: `#/search?deep=true&q=${encodeURIComponent(found.query)}` }, `Search the whole logs for ${c.typed}`)));

/** group renders a session's hits, the best first. */
function group(list, q) {
  const [best] = list;
  const rest = list.slice(most);
  const rows = el("ol", { class: "rows" }, list.slice(0, most).map((h) => hit(h, q)));
  const more = rest.length > 0 && el("button", { type: "button", class: "more-hits", onclick: () => { rows.append(...rest.map((h) => hit(h, q))); more.remove(); } }, `+${rest.length} more`);
  const handle = best.handle.split("/")[0];
  return el("section", { class: "card group", "aria-label": `Session ${handle}` },
    el("h2", null, el("a", { href: `#/${handle}?q=${encodeURIComponent(q)}` }, best.title || `Session ${handle}`), el("span", { class: "meta" }, el("code", null, handle), ` · ${best.project} · `, when(best.time))),
    rows, more);
}

const hit = (h, q) => el("li", null, el("a", { href: `#/${h.handle}?q=${encodeURIComponent(q)}` },
  el("span", { class: "snippet" }, marked(h.snippet, h.marks)),
  el("span", { class: "meta" }, el("code", null, h.handle), " · ", el("span", { class: "kind" }, h.thinking ? "thinking" : h.kind), " · ", when(h.time), h.related && " · found by meaning", h.copies ? ` · same text: ${h.copy_handles.join(", ")}` : "")));

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
  return el("div", { class: "filters", role: "group", "aria-label": "Filters" }, only, kinds.map(kind), flag("failed", "failed"), flag("agents", "sub-agents"), flag("deep", "whole logs"), since);
}

/** summary describes the result and how the query was relaxed. */
function summary(found, sessions) {
  const parts = [`${count(found.hits.length, "hit")}${found.next ? " and more" : ""} in ${count(sessions, "session")}, ${Math.round(found.took_ms)} ms`];
  if (found.relaxed === "phrase") parts.push("no passage contains the phrase; these contain its words");
  if (found.relaxed === "prefix") parts.push("no exact match; these match by prefix");
  if (found.hits[0]?.related) parts.push("no passage contains the words; these may be related");
  if (found.relaxed === "written") parts.push("no indexed passage contains it as written; these contain its words");
  return [...parts, ...(found.notes ?? [])].join(" · ");
}

/** nothing says where else to look. */
function nothing(found, q, ask) {
  const to = (more) => `#/search?${new URLSearchParams({ q, ...more })}`;
  const hints = [];
  if (found.in_agents) hints.push(el("p", null, "Sub-agent runs have hits. ", el("a", { href: to({ agents: "true" }) }, "Include them")));
  if (found.elsewhere || ask.session || ask.project || ask.since || ask.kind.length) hints.push(el("p", null, el("a", { href: to({}) }, "Search everything without filters")));
  if (!ask.deep) hints.push(el("p", null, "Long outputs are indexed in part. ", el("a", { href: to({ deep: "true" }) }, "Search the whole logs")));
  return empty("No hits", ...hints);
}

function help() {
  const line = (code, text) => el("tr", null, el("td", null, el("a", { href: `#/search?q=${encodeURIComponent(code)}` }, el("code", null, code))), el("td", null, text));
  return el("div", { class: "card" }, el("table", null, el("tbody", null,
    line("retry policy", "words in any order, and parts of identifiers and paths"),
    line('"retry policy"', "an exact phrase"),
    line("maxBack*", "a prefix"),
    line("file:pay/retry.go bans", "work on a file"),
    line("kind:command failed:true go test", "filters; also since: until: project: session: branch: kind:thinking"),
    line("why did we change it last week", "a question, with a time"))));
}
