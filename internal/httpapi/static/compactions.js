import { el, when, short, count, empty } from "./dom.js";
import { get, pathOf } from "./api.js";

/** compactions shows the newest compactions of all sessions. */
export async function compactions({ main, signal }) {
  const { items } = await get("/compactions", { limit: 50 }, signal);
  main.replaceChildren(el("div", { class: "column" }, el("h1", null, "Compactions"),
    el("p", { class: "dim" }, "When a context window is full, the client replaces the conversation by a summary. Of what the session needed afterwards, this much was still in its context: in the summary, in the restored context, and in both together."),
    items.length ? outcomes(items) : empty("No session was compacted yet", "A compaction is listed here with what it kept and lost, when a session's context window has been full, or after /compact.")));
}

const share = (n) => (n === null ? el("span", { class: "dim", title: "too little was used afterwards to measure" }, "–") : el("span", { class: n >= 0.5 ? "good" : n >= 0.25 ? "warn" : "bad" }, `${Math.round(n * 100)}%`));

/** outcomes renders a table of compactions; chosen is the index of the one that is open. */
export function outcomes(items, chosen) {
  const head = (text, cls) => el("th", { class: cls, scope: "col" }, text);
  return el("div", { class: "card wide-table", tabindex: "0" }, el("table", null,
    el("thead", null, el("tr", null, head("Where"), head("When"), head("Tokens", "n wide"), head("Needed", "n wide"), head("Kept", "n"), head("Restored", "n"), head("Together", "n"))),
    el("tbody", null, items.map((c) => el("tr", { class: c.index === chosen && "chosen" },
      el("td", null, el("a", { href: page(c), "aria-current": c.index === chosen ? "true" : undefined }, `${c.handle.split("/")[0]} · ${c.index + 1}`), el("span", { class: "meta" }, ` turn ${c.handle.split("/")[1]}, ${c.trigger}${c.ours ? ", by Strandline" : ""}`)),
      el("td", null, when(c.time)),
      el("td", { class: "n wide" }, c.pre_tokens ? `${short(c.pre_tokens)}${c.post_tokens ? ` → ${short(c.post_tokens)}` : ""}` : "–"),
      el("td", { class: "n wide", title: `${count(c.needed, "item")} known before and used afterwards` }, c.needed),
      el("td", { class: "n" }, share(c.kept)), el("td", { class: "n", title: c.given ? undefined : "would have been restored" }, share(c.restored), c.restored !== null && !c.given ? "*" : ""), el("td", { class: "n" }, share(c.together)))))),
  items.some((c) => c.restored !== null && !c.given) && el("p", { class: "meta foot" }, "* nothing was restored then; the figure is what Strandline would have restored"));
}

const page = (c) => `#/${c.handle.split("/")[0]}/compactions?index=${c.index}`;

/** compaction renders the account of one compaction: what was kept, restored and lost. */
export async function compaction(s, index, signal) {
  const c = await get(`${pathOf(s.handle)}/compactions/${index}`, null, signal);
  const [kept, restored, lost] = c.counts;
  const head = [el("h2", null, "Compaction ", String(index + 1), " in ", el("a", { href: `#/${c.handle}` }, c.handle)),
    el("p", { class: "meta" }, c.trigger, c.ours ? ", replaced by Strandline" : "", " · ", when(c.time), c.pre_tokens ? ` · ${short(c.pre_tokens)} tokens before` : "", c.post_tokens ? `, ${short(c.post_tokens)} after` : "")];
  if (c.kept === null) {
    return el("section", null, head, empty("Not enough was used afterwards", `The session used ${count(c.needed, "thing")} that it knew before. From 10 on, this page lists what was kept and lost.`));
  }
  const all = kept + restored + lost;
  const texts = el("div", null, fold("The client's summary", c.summary), fold(c.given ? "The restored context" : "What Strandline would have restored", c.context));
  return el("section", { class: "account" }, head,
    el("p", null, `Of ${count(all, "name")}, paths and numbers that the session knew before and used again afterwards:`),
    bar(kept, restored, lost),
    el("div", { class: "lists" },
      list("Kept", "good", kept, c.kept_terms, c.ours ? "in the replacement conversation" : "in the client's summary"),
      !c.ours && list(c.given ? "Restored" : "Would be restored", "blue", restored, c.restored_terms, c.given ? "not in the summary, added by Strandline" : "not in the summary; Strandline was not connected"),
      list("Lost and needed later", "bad", lost, c.lost_terms, "in neither; the session had to find it again")),
    texts);
}

/** bar draws the shares of three numbers. */
function bar(...parts) {
  const all = parts.reduce((a, b) => a + b, 0) || 1;
  const node = el("div", { class: "shares", role: "img", "aria-label": ["kept", "restored", "lost"].map((name, i) => `${parts[i]} ${name}`).join(", ") });
  parts.forEach((n, i) => {
    const one = el("span", { class: ["good", "blue", "bad"][i] });
    one.style.width = `${(100 * n) / all}%`;
    node.append(one);
  });
  return node;
}

const few = 25; // terms shown at once

function list(title, colour, n, terms, note) {
  const item = (t) => el("li", null, el("code", null, t.text),
    el("span", { class: "meta" }, t.known && ["known in ", el("a", { href: `#/${t.known}?q=${encodeURIComponent(`"${t.text}"`)}` }, t.known.split("/")[1])], t.known && ", ", "used in ", el("a", { href: `#/${t.used}` }, t.used.split("/")[1])));
  const rows = el("ol", null, terms.slice(0, few).map(item));
  const more = terms.length > few && el("button", { type: "button", onclick: () => { rows.append(...terms.slice(few).map(item)); more.remove(); } }, `Show ${terms.length - few} more`);
  return el("section", { class: `card list-${colour}` }, el("h3", null, el("span", { class: colour }, n.toLocaleString("en")), ` ${title}`), el("p", { class: "meta" }, note), terms.length ? rows : el("p", { class: "dim" }, "Nothing."), more,
    n > terms.length && el("p", { class: "meta" }, `The ${terms.length} rarest of ${n.toLocaleString("en")} are listed.`));
}

const fold = (title, text) => text && el("details", { class: "aside" }, el("summary", null, el("span", { class: "name" }, title), el("span", { class: "meta" }, `${text.length.toLocaleString("en")} characters`)), el("div", { class: "inside" }, el("pre", { tabindex: "0" }, text)));
