import { el, svg, when, short, count, change, lasting, copy, empty } from "./dom.js";
import { get } from "./api.js";
import { follow } from "./live.js";
import { sidebar } from "./sidebar.js";

const page = 50;

/** sessions shows working sessions and the archived ones, newest first. */
export async function sessions({ main, query, signal }) {
  const project = query.get("project") ?? "";
  const [projects, list, now] = await Promise.all([
    get("/projects", null, signal), get("/sessions", { project, limit: page }, signal), get("/running", null, signal)]);
  if (!projects.items.length) {
    main.replaceChildren(begin());
    return;
  }
  const rows = el("ul", { class: "rows card" });
  const more = el("button", { type: "button", class: "more" }, "Show older sessions");
  const add = (part) => {
    rows.append(...part.items.map(row));
    describe(rows, part.items, signal);
    more.hidden = !part.next;
    more.onclick = async () => add(await get("/sessions", { project, limit: page, cursor: part.next }, signal));
  };
  add(list);
  const running = el("div", { class: "now" }, active(now.items));
  main.replaceChildren(el("div", { class: "with-side" }, sidebar(projects.items, project),
    el("div", { class: "column" }, running, el("h1", null, project ? project.split("/").pop() : "Sessions"),
      list.items.length ? rows : empty("No sessions in this project", el("a", { href: "#/" }, "Show all sessions")), more)));
  follow(signal, "", async () => running.replaceChildren(...active((await get("/running", null, signal)).items)));
}

/** begin explains how sessions get into an empty archive. */
function begin() {
  const step = (text, command) => el("li", null, el("p", null, text), el("p", null, el("code", null, command), " ", copy(command, "Copy the command")));
  return el("section", { class: "begin" }, el("h1", null, "Nothing is archived yet"),
    el("p", null, "Strandline keeps every session of the coding agent, makes them searchable, and restores context after compactions."),
    el("ol", { class: "list" }, step("Connect it to the client once:", "strandline init"), step("Import the sessions that are on this machine:", "strandline import"), step("Or look at a demo session first, without changing anything:", "strandline demo")),
    el("p", { class: "dim" }, "New sessions appear here by themselves."));
}

/** row renders a session of a list. */
function row(s) {
  const facts = [count(s.turns, "turn"), lasting((new Date(s.last) - new Date(s.first)) / 1000)];
  if (s.compactions) facts.push(count(s.compactions, "compaction"));
  return el("li", { "data-session": s.session }, el("a", { href: `#/${s.handle}` },
    el("span", { class: "title" }, s.title || "(no prompt)"),
    el("span", { class: "spark" }),
    el("span", { class: "meta" }, el("code", null, s.handle), ` · ${s.project_name} · `, when(s.last), ` · ${facts.join(" · ")}`, el("span", { class: "did" }), s.branch && el("span", { class: "branch" }, ` · ${s.branch}`))));
}

const colours = { "checks failed": "bad", "checks passed": "good", committed: "good", pushed: "good" };

/** describe adds to rows what their sessions did, some at a time. */
async function describe(rows, items, signal) {
  for (let i = 0; i < items.length; i += 10) {
    const session = items.slice(i, i + 10).map((s) => s.session);
    const part = await get("/digests", { session }, signal).catch(() => ({ items: [] }));
    for (const a of part.items) {
      const li = rows.querySelector(`[data-session="${CSS.escape(a.session)}"]`);
      li?.querySelector(".spark").replaceChildren(...spark(a.tokens));
      const state = a.working ? el("span", { class: "live" }, "working") : a.outcome && el("span", { class: `badge ${colours[a.outcome] ?? ""}` }, a.outcome);
      const what = [change(a.added, a.removed), state].filter(Boolean).flatMap((n) => [" · ", n]);
      li?.querySelector(".did").replaceChildren(...what);
    }
  }
}

/** spark draws a small curve of the context's tokens. */
export function spark(tokens) {
  if (tokens.length < 2) return [];
  const top = Math.max(...tokens), x = (i) => (100 * i) / (tokens.length - 1), y = (n) => 24 - (22 * n) / top;
  return [svg("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", role: "img", "aria-label": `context up to ${short(top)} tokens` },
    svg("path", { d: `M0,24 ${tokens.map((n, i) => `L${x(i).toFixed(1)},${y(n).toFixed(1)}`).join(" ")} L100,24 Z` })), el("span", { class: "meta" }, short(top))];
}

/** active shows the sessions that are working, with their context usage. */
function active(list) {
  const working = list.filter((r) => r.working);
  if (!working.length) return [];
  return [el("h2", null, "Working now"), el("div", { class: "running" }, working.map(usage))];
}

const zones = { ok: "fine", warning: "filling up", optimize: "nearly full" };

function usage(r) {
  const percent = Math.round(r.share * 100);
  const left = r.turns_left === null ? "" : `, about ${count(r.turns_left, "turn")} to ${r.compacts ? "compaction" : "the limit"}`;
  const context = r.window ? `${percent}% of ${short(r.window)}${left}` : "context size not known yet";
  return el("a", { class: "card", href: `#/${r.handle}` },
    el("strong", null, r.title || "(no prompt)"),
    bar(r),
    el("span", { class: "meta" }, `${r.project_name} · ${context}${r.zone ? ` · ${zones[r.zone] ?? r.zone}` : ""} · `, when(r.last)));
}

/** bar draws the context usage and the compaction threshold. */
function bar(r) {
  const width = 1000 * Math.min(r.share, 1);
  const drawing = svg("svg", { class: "usage", viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img", "aria-label": `${Math.round(r.share * 100)} percent full` },
    svg("rect", { class: "all", width: 1000, height: 20, rx: 10 }),
    svg("rect", { class: r.zone || "ok", width, height: 20, rx: 10 }));
  if (r.window && r.next) drawing.append(svg("rect", { class: "next", x: 1000 * Math.min(r.next / r.window, 1) - 3, width: 4, height: 20 }));
  return drawing;
}
