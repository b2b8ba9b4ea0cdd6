import { el, when, bytes, count } from "./dom.js";
import { get } from "./api.js";

/** sessions lists projects and sessions, newest first. */
export async function sessions({ main, query, signal }) {
  const project = query.get("project") ?? "";
  const [projects, list] = await Promise.all([get("/projects", null, signal), get("/sessions", { project, limit: 50 }, signal)]);
  const rows = el("ul", { class: "sessions" });
  const more = el("button", { type: "button", class: "more" }, "Show older sessions");
  const add = (page) => {
    rows.append(...page.items.map(row));
    more.hidden = !page.next;
    more.onclick = async () => add(await get("/sessions", { project, limit: 50, cursor: page.next }, signal));
  };
  add(list);
  main.replaceChildren(
    el("h1", null, "Sessions"),
    el("p", { class: "filters", role: "group", "aria-label": "Projects" },
      chip("All projects", "#/", !project),
      projects.items.map((p) => chip(p.name || p.key, `#/?project=${encodeURIComponent(p.root || p.name)}`, project === (p.root || p.name), p.sessions))),
    list.items.length ? rows : el("p", { class: "empty" }, "No session is kept yet. strandline import brings in the ones that exist."),
    more,
  );
}

const chip = (text, href, on, n) =>
  el("a", { class: "chip", href, "aria-current": on ? "true" : undefined }, text, n !== undefined && el("span", { class: "dim" }, ` ${n}`));

/** row is a session of the list. */
export function row(s) {
  const facts = [count(s.turns, "turn"), bytes(s.bytes)];
  if (s.compactions) facts.push(count(s.compactions, "compaction"));
  if (s.branch) facts.push(s.branch);
  return el("li", null, el("a", { href: `#/${s.handle}` },
    el("span", { class: "title" }, s.title || "(no prompt)"),
    el("span", { class: "meta" }, el("code", null, s.handle), " · ", el("span", null, s.project.split("/").pop()), " · ", when(s.last), " · ", facts.join(" · "))));
}
