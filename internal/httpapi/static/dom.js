// Helpers to build elements. Archived text only becomes text nodes, never markup.

/** el creates an element: el("a", {href, class, onclick}, child, "text", …). */
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}

/** svg creates an SVG element. */
export function svg(tag, props, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props ?? {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** marked wraps the marked ranges of a text, pairs of UTF-16 offsets, in <mark>. */
export function marked(text, marks) {
  const out = [];
  let at = 0;
  for (const [from, to] of marks ?? []) {
    if (from > at) out.push(text.slice(at, from));
    out.push(el("mark", null, text.slice(from, to)));
    at = to;
  }
  out.push(text.slice(at));
  return out;
}

const units = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** when renders a relative time, or a date after a fortnight, with the exact time as its title. */
export function when(iso) {
  const t = new Date(iso);
  if (!iso || t.getFullYear() < 1971) return el("span", { class: "dim" }, "–");
  const ago = (t - Date.now()) / 1000;
  if (ago < -1209600) return el("time", { datetime: iso, title: exact.format(t) }, (t.getFullYear() === new Date().getFullYear() ? day : date).format(t));
  const [unit, size] = units.find(([, s]) => Math.abs(ago) >= s) ?? ["second", 1];
  const text = unit === "second" ? "just now" : relative.format(Math.round(ago / size), unit);
  return el("time", { datetime: iso, title: exact.format(t) }, text);
}

/** moment formats an exact time. */
export function moment(iso) {
  const t = new Date(iso);
  return !iso || t.getFullYear() < 1971 ? "" : exact.format(t);
}

/** bytes formats a size in powers of 1000. */
export function bytes(n) {
  for (const unit of ["B", "KB", "MB", "GB"]) {
    if (n < 1000 || unit === "GB") return `${n < 10 && unit !== "B" ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
}

/** short formats a token count as the statusline does. */
export function short(n) {
  if (n < 1000) return String(n);
  if (n < 1e6) return `${(n / 1000).toFixed(n < 10000 ? 1 : 0)}K`;
  if (n < 1e9) return `${(n / 1e6).toFixed(1)}M`;
  return `${(n / 1e9).toFixed(1)}B`;
}

/** count formats a number with its noun. */
export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** lasting formats a number of seconds. */
export function lasting(s) {
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${(s / 3600).toFixed(s < 36000 ? 1 : 0)} h`;
  return `${Math.round(s / 86400)} days`;
}

/** change renders numbers of added and removed lines. */
export function change(added, removed) {
  if (!added && !removed) return undefined;
  return el("span", { class: "change", title: "lines added and removed" }, el("span", { class: "good" }, `+${added}`), " ", el("span", { class: "bad" }, `−${removed}`));
}

const icon = () => svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: "icon" }, svg("path", { d: "M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z" }));

/** copy creates a button that copies a text. */
export function copy(text, label, caption = "") {
  const button = el("button", { type: "button", class: "copy", title: label, "aria-label": caption ? undefined : label }, caption || icon());
  button.addEventListener("click", async (e) => {
    e.preventDefault();
    e.stopPropagation();
    const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    announce(done ? "Copied" : "The browser did not allow copying");
    button.classList.add(done ? "done" : "failed");
    setTimeout(() => button.classList.remove("done", "failed"), 1200);
  });
  return button;
}

/** announce reports a change to screen readers. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}

/** empty renders what a view without content shows: a heading and what to do. */
export function empty(title, ...hints) {
  return el("section", { class: "empty" }, el("h2", null, title), hints.map((h) => (typeof h === "string" ? el("p", null, h) : h)));
}
