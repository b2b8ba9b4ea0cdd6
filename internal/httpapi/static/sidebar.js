// The projects beside the list of sessions.
import { el, when, count } from "./dom.js";

/** sidebar lists projects, the most recently used first, each with its work trees below. */
export function sidebar(projects, chosen) {
  const entry = (p) => {
    const value = p.root || p.name || p.key;
    return el("li", { class: p.tree && "tree-of" }, el("a", { href: `#/?project=${encodeURIComponent(value)}`, title: value, "aria-current": value === chosen ? "true" : undefined },
      el("span", { class: "side-name" }, p.tree || p.label || p.name || p.key),
      el("span", { class: "meta" }, `${count(p.sessions, "session")} · `, when(p.last))));
  };
  const wide = matchMedia("(min-width: 60rem)").matches;
  return el("details", { class: "shelf", open: wide }, el("summary", null, count(projects.length, "project")),
    el("nav", { class: "side", "aria-label": "Projects" }, el("ul", null,
      el("li", null, el("a", { href: "#/", "aria-current": chosen ? undefined : "true" }, el("span", { class: "side-name" }, "All projects"), el("span", { class: "meta" }, count(projects.reduce((n, p) => n + p.sessions, 0), "session")))),
      projects.map(entry))));
}
