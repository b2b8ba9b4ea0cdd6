import { el, announce } from "./dom.js";
import { Problem } from "./api.js";
import { sessions } from "./sessions.js";
import { session } from "./session.js";
import { search } from "./search.js";
import { files } from "./files.js";
import { compactions } from "./compactions.js";
import { status } from "./status.js";
import { usage } from "./usage.js";

const main = document.getElementById("main");
const box = document.getElementById("q");

// Views by the first path segment after #/. Any other segment is a handle.
const views = { "": sessions, search, files, compactions, usage, status };

let leave = new AbortController();
let keys = {}; // actions of the view by key

/** split returns the path and the query of a location hash. */
function split(hash) {
  const at = hash.indexOf("?");
  const [path, query] = at < 0 ? [hash, ""] : [hash.slice(0, at), hash.slice(at + 1)];
  return [path.replace(/^#\/?/, ""), query];
}

/** go replaces the current address. */
function go(to) {
  history.replaceState(null, "", to);
  show();
}

/** show renders the view of the current address. */
async function show() {
  const [path, query] = split(location.hash);
  const [head] = path.split("/");
  const view = views[head] ?? session;
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  keys = { j: () => walk(1), k: () => walk(-1) };
  CSS.highlights?.delete("hit");
  document.title = "Strandline";
  if (head !== "search" && document.activeElement !== box) box.value = "";
  for (const a of document.querySelectorAll("nav a")) {
    const here = a.hash.replace(/^#\/?/, "") === head;
    here ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
  }
  main.setAttribute("aria-busy", "true");
  try {
    await view({ main, path, query: new URLSearchParams(query), signal, box, go, keys });
  } catch (error) {
    if (!signal.aborted) main.replaceChildren(failure(error));
  }
  if (!signal.aborted) main.removeAttribute("aria-busy");
}

/** failure describes an error and what to do. */
function failure(error) {
  announce(error.message);
  if (error instanceof Problem && error.status === 401) {
    return el("section", { class: "empty" }, el("h1", null, "The server was restarted"),
      el("p", null, "It has a new token. "), el("p", null, el("a", { href: "/" }, "Open the archive again")));
  }
  const known = error instanceof Problem;
  return el("section", { class: "empty" }, el("h1", null, known ? "The request failed" : "The server does not respond"),
    el("p", null, known ? error.message : "It may have stopped. Start it again with strandline serve."),
    known && error.hint && el("p", { class: "dim" }, error.hint));
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

/** find searches for the text in the box. While typing it replaces the previous search. */
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

const dialog = document.getElementById("keys");
document.getElementById("help").addEventListener("click", () => dialog.showModal());

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || dialog.open) return;
  const typing = e.target.matches?.("input, textarea, select");
  if (e.key === "Escape" && e.target === box) {
    box.blur();
    main.focus();
  } else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
    if (e.target === box || e.target.closest?.(".rows")) walk(e.key === "ArrowDown" ? 1 : -1, e);
  } else if (typing) return;
  else if (e.key === "/") {
    e.preventDefault();
    box.focus();
    box.select();
  } else if (e.key === "?") dialog.showModal();
  else if (keys[e.key]) {
    e.preventDefault();
    keys[e.key]();
  }
});

/** walk moves the focus to the next or previous row of a list, also from the search box. */
function walk(by, e) {
  const rows = [...main.querySelectorAll(".rows a")];
  if (!rows.length) return;
  e?.preventDefault();
  const at = rows.indexOf(document.activeElement);
  if (at + by < 0 && e) box.focus();
  else rows[Math.max(0, Math.min(at + by, rows.length - 1))].focus();
}

addEventListener("hashchange", () => {
  scrollTo(0, 0);
  show();
});
show();
