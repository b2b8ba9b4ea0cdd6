// Tokens, compactions and the cache's share by day.
import { el, short, count, empty } from "./dom.js";
import { get } from "./api.js";
import { chart, axis, tip } from "./charts.js";

const ranges = { "": "All time", "90d": "Last 90 days", "30d": "Last 30 days", "7d": "Last 7 days" };
const tokens = (s) => s.input_tokens + s.output_tokens + s.cache_read_tokens + s.cache_write_tokens;
const money = (n) => `$${n >= 100 ? Math.round(n).toLocaleString("en") : n.toFixed(2)}`;
const measures = { tokens: ["All tokens", tokens, short], output: ["Output tokens", (s) => s.output_tokens, short], cost: ["Cost", (s) => s.cost_usd, money] };
const most = 5; // names with a colour of their own

/** usage shows charts and totals. */
export async function usage({ main, query, signal, go }) {
  const by = query.get("by") === "models" ? "models" : "projects", measure = measures[query.get("of")] ? query.get("of") : "tokens", since = query.get("since") ?? "";
  const s = await get("/stats", { since }, signal);
  const change = (name, value) => {
    const to = new URLSearchParams(query);
    value ? to.set(name, value) : to.delete(name);
    go(`#/usage?${to}`);
  };
  const choice = (label, name, options, value) => el("label", { class: "meta" }, label, " ", el("select", { name, onchange: (e) => change(name, e.target.value) },
    Object.entries(options).map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
  const filters = el("div", { class: "filters" }, choice("Show", "of", Object.fromEntries(Object.entries(measures).map(([k, [text]]) => [k, text])), measure),
    choice("by", "by", { projects: "project", models: "model" }, by), choice("of", "since", ranges, since));
  const days = calendar(s.days.filter((d) => d.day));
  if (!days.length) {
    main.replaceChildren(el("div", { class: "column" }, el("h1", null, "Usage"), filters, empty("No usage in this time", "The client writes the tokens of each response into its transcript. They are counted here by day, project and model.")));
    return;
  }
  const fact = (name, value, title) => el("div", { class: "card", title }, el("dt", null, name), el("dd", null, value));
  const [main1, cache, compactions] = [1, 2, 3].map(() => el("div", { class: "plot" }));
  const names = s[by].map((x) => [x.name, measures[measure][1](x)]).sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const shown = names.slice(0, most);
  main.replaceChildren(el("div", { class: "column" }, el("h1", null, "Usage"), filters,
    el("dl", { class: "facts" }, fact("Tokens", short(tokens(s))), fact("Output tokens", short(s.output_tokens)), fact("Cost", money(s.cost_usd), s.cost_estimated_usd ? `${money(s.cost_estimated_usd)} of it from list prices of ${s.prices_date}` : undefined),
      fact("Read from the cache", s.cache_share === null ? "–" : `${Math.round(s.cache_share * 100)}%`), fact("Compactions", s.compactions.toLocaleString("en"))),
    figure(`${measures[measure][0]} per day by ${by.slice(0, -1)}`, main1, legend([...shown, ...(names.length > most ? ["other"] : [])])),
    el("div", { class: "pair" }, figure("Share of the input that was read from the cache", cache), figure("Compactions per day", compactions)),
    el("div", { class: "pair" }, table(s[by], by.slice(0, -1)), tools(s.tools))));
  await Promise.all([
    chart(main1, signal, stacked(main1, days, shown, by, measures[measure])),
    chart(cache, signal, single(cache, days, (d) => cacheShare(d), (v) => `${Math.round(v * 100)}%`, "accent", 1)),
    chart(compactions, signal, single(compactions, days, (d) => d.compactions, (v) => count(v, "compaction"), "warn")),
  ]);
}

function cacheShare(d) {
  const input = d.input_tokens + d.cache_read_tokens + d.cache_write_tokens;
  return input ? d.cache_read_tokens / input : null;
}

/** calendar adds the days without activity, unless that makes the list very long. */
function calendar(days) {
  if (days.length < 2) return days;
  const known = new Map(days.map((d) => [d.day, d])), out = [];
  const end = new Date(`${days.at(-1).day}T00:00Z`);
  for (const t = new Date(`${days[0].day}T00:00Z`); t <= end; t.setUTCDate(t.getUTCDate() + 1)) {
    const day = t.toISOString().slice(0, 10);
    out.push(known.get(day) ?? { day, compactions: 0, input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 0, models: {}, projects: {} });
  }
  return out.length > 750 ? days : out;
}

const month = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const name = (d) => (d ? month.format(new Date(`${d.day}T00:00Z`)) : "");

const base = (colour, days, values) => ({
  height: 180, padding: [8, 16, 0, 0], cursor: { y: false, drag: { x: false, y: false } },
  axes: [axis(colour, { values: (_, at) => at.map((i) => (Number.isInteger(i) ? name(days[i]) : "")), space: 70, size: 24 }), axis(colour, { values: (_, list) => list.map(values), size: 56, space: 34 })],
});

/** stacked draws a bar a day, with a part for each name. */
function stacked(node, days, names, by, [, of, format]) {
  const value = (d, n) => (d[by][n] ? of(d[by][n]) : 0);
  const parts = names.map((n) => days.map((d) => value(d, n)));
  const all = days.map(of);
  // Series are drawn from the whole bar down to the first part.
  const tops = [all, ...parts.map((_, k) => days.map((_, i) => parts.slice(0, k + 1).reduce((sum, p) => sum + p[i], 0))).reverse()];
  const about = (i) => `${name(days[i])}: ${format(all[i])}${names.map((n) => [n, value(days[i], n)]).filter(([, v]) => v).map(([n, v]) => ` · ${n} ${format(v)}`).join("")}`;
  return (colour, _, UPlot) => ({
    options: {
      ...base(colour, days, format), height: 260, scales: { x: { time: false, range: [-0.5, days.length - 0.5] }, y: { range: (_, __, max) => [0, max * 1.05 || 1] } },
      series: [{}, ...tops.map((_, k) => ({ fill: colour(k === 0 ? "c5" : `c${names.length - k}`), width: 0, points: { show: false }, paths: UPlot.paths.bars({ size: [0.8, 48] }) }))],
      hooks: { setCursor: [tip(node, about)] },
    },
    data: [days.map((_, i) => i), ...tops],
  });
}

/** single draws one value a day; top is the end of the scale, if it is fixed. */
function single(node, days, of, format, tone, top) {
  const values = days.map(of);
  return (colour, _, UPlot) => ({
    options: {
      ...base(colour, days, (v) => (top ? format(v) : Number.isInteger(v) ? v : "")), scales: { x: { time: false, range: [-0.5, days.length - 0.5] }, y: { range: (_, __, max) => [0, top ?? Math.max(max * 1.1, 2)] } },
      series: [{}, { fill: colour(tone), width: 0, points: { show: false }, paths: UPlot.paths.bars({ size: [0.8, 32] }) }],
      hooks: { setCursor: [tip(node, (i) => (values[i] === null ? "" : `${name(days[i])}: ${format(values[i])}`))] },
    },
    data: [days.map((_, i) => i), values],
  });
}

const figure = (title, node, extra) => {
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", title);
  return el("figure", { class: "card" }, el("figcaption", null, title), node, extra);
};
const legend = (names) => el("ul", { class: "legend" }, names.map((n, i) => el("li", null, el("span", { class: n === "other" ? "c5" : `c${i}` }), n)));

const table = (list, noun) => el("div", { class: "card wide-table", tabindex: "0" }, el("table", null,
  el("thead", null, el("tr", null, el("th", { scope: "col" }, noun), ["Tokens", "Output", "Cost"].map((t) => el("th", { class: "n", scope: "col" }, t)))),
  el("tbody", null, list.slice(0, 20).map((x) => el("tr", null, el("td", null, noun === "project" ? el("a", { href: `#/?project=${encodeURIComponent(x.name)}` }, x.name) : x.name), el("td", { class: "n" }, short(tokens(x))), el("td", { class: "n" }, short(x.output_tokens)), el("td", { class: "n" }, money(x.cost_usd)))))));

const tools = (list) => el("div", { class: "card wide-table", tabindex: "0" }, el("table", null,
  el("thead", null, el("tr", null, el("th", { scope: "col" }, "Tool"), ["Calls", "Failed"].map((t) => el("th", { class: "n", scope: "col" }, t)), el("th", { scope: "col" }, "Most frequent error"))),
  el("tbody", null, list.slice(0, 12).map((t) => el("tr", null, el("td", null, t.name), el("td", { class: "n" }, t.calls), el("td", { class: "n" }, t.failed), el("td", { class: "meta" }, t.error && el("a", { href: `#/search?q=${encodeURIComponent(`"${t.error.slice(0, 80)}"`)}` }, t.error.slice(0, 90))))))));
