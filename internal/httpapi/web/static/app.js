import { el, say } from "./dom.js";
import { Problem } from "./api.js";
import { sessions } from "./sessions.js";
import { session } from "./session.js";
import { search } from "./search.js";
import { files } from "./files.js";
import { compactions } from "./compactions.js";
import { status } from "./status.js";

const main = document.getElementById("main");
const box = document.getElementById("q");

// The views by the first part of what stands behind #/; anything else is a handle.
const views = { "": sessions, search, files, compactions, status };

let leave = new AbortController();

/** split takes an address behind # apart: its path and its query. */
function split(hash) {
  const at = hash.indexOf("?");
  const [path, query] = at < 0 ? [hash, ""] : [hash.slice(0, at), hash.slice(at + 1)];
  return [path.replace(/^#\/?/, ""), query];
}

/** go leads to another address in place of this one. */
function go(to) {
  history.replaceState(null, "", to);
  show();
}

/** show makes the view that the address names. */
async function show() {
  const [path, query] = split(location.hash);
  const [head] = path.split("/");
  const view = views[head] ?? session;
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  if (head !== "search" && document.activeElement !== box) box.value = "";
  for (const a of document.querySelectorAll("nav a")) {
    const here = a.hash.replace(/^#\/?/, "") === head;
    here ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
  }
  main.setAttribute("aria-busy", "true");
  try {
    await view({ main, path, query: new URLSearchParams(query), signal, box, go });
  } catch (fault) {
    if (!signal.aborted) main.replaceChildren(wrong(fault));
  }
  if (!signal.aborted) main.removeAttribute("aria-busy");
}

/** wrong says what went wrong, and what to do. */
function wrong(fault) {
  say(fault.message);
  if (fault instanceof Problem && fault.status === 401) {
    return el("section", { class: "empty" }, el("h1", null, "The server was started anew"),
      el("p", null, "Its token is another one now. "), el("p", null, el("a", { href: "/" }, "Open the archive again")));
  }
  const known = fault instanceof Problem;
  return el("section", { class: "empty" }, el("h1", null, known ? "That did not work" : "The server does not answer"),
    el("p", null, known ? fault.message : "It may have ended. Start it again with strandline serve."),
    known && fault.hint && el("p", { class: "dim" }, fault.hint));
}

document.getElementById("find").addEventListener("submit", (e) => {
  e.preventDefault();
  find(true);
});

let typing;
box.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => find(false), 150);
});

/** find searches for what stands in the box, in place of the search before. */
function find(now) {
  clearTimeout(typing);
  const query = new URLSearchParams(location.hash.startsWith("#/search") ? split(location.hash)[1] : "");
  const q = box.value.trim();
  if (!q && !now) return;
  query.set("q", q);
  const to = `#/search?${query}`;
  if (location.hash === to) return;
  if (location.hash.startsWith("#/search") && !now) {
    go(to);
  } else {
    location.hash = to;
  }
}

document.addEventListener("keydown", (e) => {
  const typing = e.target.matches?.("input, textarea, select");
  if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
    e.preventDefault();
    box.focus();
    box.select();
  }
  if (e.key === "Escape" && e.target === box) {
    box.blur();
    main.focus();
  }
  if (e.key === "ArrowDown" || e.key === "ArrowUp") step(e, e.key === "ArrowDown" ? 1 : -1);
});

/** step goes to the next or the previous row of a list, from the search box too. */
function step(e, by) {
  const rows = [...main.querySelectorAll(".rows a")];
  const at = rows.indexOf(document.activeElement);
  if (!rows.length || (at < 0 && e.target !== box)) return;
  e.preventDefault();
  if (at + by < 0) box.focus();
  else rows[Math.min(at + by, rows.length - 1)].focus();
}

addEventListener("hashchange", () => {
  scrollTo(0, 0);
  show();
});
show();
