// The parts of a session beside its turns.
import { el, moment, count, empty } from "./dom.js";
import { get, pathOf } from "./api.js";
import { compaction, outcomes } from "./compactions.js";

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
  body.replaceChildren(items.length ? el("ul", { class: "tree card" }, items.map(item)) : empty("No tasks in this session", "Tasks come from the client's task list and from sub-agents."));
}

/** files lists the files that the session touched. */
async function files({ s, body, signal }) {
  const { items } = await get(`${pathOf(s.handle)}/files`, null, signal);
  body.replaceChildren(items.length ? el("div", { class: "card wide-table", tabindex: "0" }, el("table", null,
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "File"), el("th", { class: "n", scope: "col" }, "Changes"), el("th", { class: "n wide", scope: "col" }, "Reads"), el("th", { scope: "col" }, "Last"))),
    el("tbody", null, items.map((f) => el("tr", null,
      el("td", null, el("a", { href: `#/files?path=${encodeURIComponent(f.path)}` }, f.path)),
      el("td", { class: "n" }, f.changes), el("td", { class: "n wide" }, f.reads), el("td", null, el("a", { href: `#/${f.handle}` }, f.handle.split("/")[1]))))))) : empty("This session touched no files", "Files that its tools read or change are listed here."));
}

/** compactions shows the outcomes of the session's compactions, or the account of one. */
async function compactions({ s, body, query, signal }) {
  const { items } = await get(`${pathOf(s.handle)}/compactions`, null, signal);
  if (!items.length) {
    body.replaceChildren(empty("Not compacted", "When the client's context window is full it replaces the conversation by a summary. This page then lists what was kept, restored and lost."));
    return;
  }
  const index = Number(query.get("index") ?? items[0].index);
  body.replaceChildren(items.length > 1 ? outcomes(items, index) : "", el("div", null, await compaction(s, index, signal)));
}

/** restore shows the context that a compaction would restore now. */
async function restore({ s, body, query, signal, go }) {
  const role = query.get("role") ?? "";
  const block = await get(`${pathOf(s.handle)}/restore`, { role }, signal);
  const select = el("select", { id: "role", onchange: () => go(`#/${s.handle}/restore${select.value ? `?role=${select.value}` : ""}`) },
    ["", "orchestrator", "developer", "specialist", "validator"].map((r) => el("option", { value: r, selected: r === role }, r || "any role")));
  body.replaceChildren(
    el("p", { class: "filters" }, el("label", { for: "role", class: "dim" }, "Role"), select, el("span", { class: "meta" }, `${block.chars.toLocaleString("en")} characters, as of ${moment(s.last)}`)),
    block.text ? el("pre", { class: "card record", tabindex: "0" }, block.text) : empty("Nothing to restore", "The session has no turn yet that a compaction could lose."));
}

export const tabs = { tasks, files, compactions, restore };
