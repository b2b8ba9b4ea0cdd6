// The projects beside the list of sessions.
import { el, when, count } from "./dom.js";

/** sidebar lists projects, the most recently used first. */
export function sidebar(projects, chosen) {
  const names = new Map();
  for (const p of projects) names.set(nameOf(p), (names.get(nameOf(p)) ?? 0) + 1);
  const entry = (p) => {
    const value = p.root || p.name || p.key;
    return el("li", null, el("a", { href: `#/?project=${encodeURIComponent(value)}`, title: value, "aria-current": value === chosen ? "true" : undefined },
      el("span", { class: "side-name" }, nameOf(p), names.get(nameOf(p)) > 1 && el("span", { class: "dim" }, ` ${parentOf(value)}`)),
      el("span", { class: "meta" }, `${count(p.sessions, "session")} · `, when(p.last))));
  };
  const wide = matchMedia("(min-width: 60rem)").matches;
  return el("details", { class: "shelf", open: wide }, el("summary", null, count(projects.length, "project")),
    el("nav", { class: "side", "aria-label": "Projects" }, el("ul", null,
      el("li", null, el("a", { href: "#/", "aria-current": chosen ? undefined : "true" }, el("span", { class: "side-name" }, "All projects"), el("span", { class: "meta" }, count(projects.reduce((n, p) => n + p.sessions, 0), "session")))),
      projects.map(entry))));
}

const nameOf = (p) => p.name || p.key.replace(/^[a-z]+:/, "").split("/").pop() || p.key;

/** parentOf returns the folders above a project's, shortened. */
function parentOf(path) {
  const parts = path.replace(/^[a-z]+:/, "").split("/").filter(Boolean).slice(0, -1);
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : parts.join("/");
}
