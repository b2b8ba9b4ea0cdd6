// Helpers to build elements. Archived text only becomes text nodes, never markup.

/** el creates an element: el("a", {href, class, onclick}, child, "text", …). */
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
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

/** when renders a relative time with the exact time as its title. */
export function when(iso) {
  const t = new Date(iso);
  if (!iso || t.getFullYear() < 1971) return el("span", { class: "dim" }, "–");
  const ago = (t - Date.now()) / 1000;
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

/** announce reports a change to screen readers. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}
