import { el, svg, when, bytes, short, count, announce } from "./dom.js";
import { get, address } from "./api.js";

const page = 50;

/** sessions shows running sessions, then the archived ones, newest first. */
export async function sessions({ main, query, signal }) {
  const project = query.get("project") ?? "";
  const [projects, list, now] = await Promise.all([
    get("/projects", null, signal), get("/sessions", { project, limit: page }, signal), get("/running", null, signal)]);
  const rows = el("ul", { class: "rows card" });
  const more = el("button", { type: "button", class: "more" }, "Show older sessions");
  const add = (part) => {
    rows.append(...part.items.map(row));
    more.hidden = !part.next;
    more.onclick = async () => add(await get("/sessions", { project, limit: page, cursor: part.next }, signal));
  };
  add(list);
  const running = el("div", null, active(now.items));
  main.replaceChildren(
    running,
    el("h1", null, "Sessions"),
    projects.items.length > 1 && choice(projects.items, project),
    list.items.length ? rows : el("p", { class: "empty" }, "No sessions are archived yet. strandline import imports the existing ones."),
    more);
  follow(signal, "", async () => running.replaceChildren(...active((await get("/running", null, signal)).items)));
}

/** choice renders the project selector. */
function choice(projects, chosen) {
  const select = el("select", { id: "project", onchange: () => { location.hash = select.value ? `#/?project=${encodeURIComponent(select.value)}` : "#/"; } },
    el("option", { value: "" }, "All projects"),
    projects.map((p) => {
      const value = p.root || p.name || p.key;
      return el("option", { value, selected: value === chosen }, `${p.name || p.key} (${p.sessions})`);
    }));
  return el("p", { class: "filters" }, el("label", { for: "project", class: "dim" }, "Project"), select);
}

/** row renders a session of a list. */
export function row(s) {
  const facts = [count(s.turns, "turn"), bytes(s.bytes)];
  if (s.compactions) facts.push(count(s.compactions, "compaction"));
  if (s.branch) facts.push(s.branch);
  return el("li", null, el("a", { href: `#/${s.handle}` },
    el("span", { class: "title" }, s.title || "(no prompt)"),
    el("span", { class: "meta" }, el("code", null, s.handle), ` · ${s.project.split("/").pop()} · `, when(s.last), ` · ${facts.join(" · ")}`)));
}

/** active shows the running sessions with their context usage. */
function active(list) {
  if (!list.length) return [];
  return [el("h2", null, "Running now"), el("div", { class: "running" }, list.map(usage))];
}

const zones = { ok: "fine", warning: "filling up", optimize: "nearly full" };

function usage(r) {
  const percent = Math.round(r.share * 100);
  const left = r.turns_left === null ? "" : `, about ${count(r.turns_left, "turn")} to ${r.compacts ? "compaction" : "the limit"}`;
  const context = r.window ? `${percent}% of ${short(r.window)}${left}` : "context size not known yet";
  return el("a", { class: "card", href: `#/${r.handle}` },
    el("strong", null, r.title || "(no prompt)"),
    bar(r),
    el("span", { class: "meta" }, `${r.project.split("/").pop()} · ${context}${r.zone ? ` · ${zones[r.zone] ?? r.zone}` : ""} · `, when(r.last)));
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

/** follow calls update for each session that grows, until signal aborts. */
export function follow(signal, session, update) {
  const stream = new EventSource(address("/events", { session }));
  stream.addEventListener("turns", (e) => {
    const grown = JSON.parse(e.data);
    announce(`${grown.session.handle} has new turns`);
    update(grown).catch(() => {}); // the next event retries
  });
  signal.addEventListener("abort", () => stream.close());
}
