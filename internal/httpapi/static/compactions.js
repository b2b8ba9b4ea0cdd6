import { el, when, short, count } from "./dom.js";
import { get } from "./api.js";

/** compactions shows the newest compactions of all sessions. */
export async function compactions({ main, signal }) {
  const { items } = await get("/compactions", { limit: 50 }, signal);
  main.replaceChildren(el("h1", null, "Compactions"),
    el("p", { class: "dim" }, "How much of what a session needed afterwards was still in its context: in the summary, in the restored context, and in both together."),
    outcomes(items));
}

const share = (n) => (n === null ? el("span", { class: "dim", title: "too little was used afterwards to measure" }, "–") : el("span", { class: n >= 0.5 ? "good" : n >= 0.25 ? "warn" : "bad" }, `${Math.round(n * 100)}%`));

/** outcomes renders a table of compactions. */
export function outcomes(items) {
  if (!items.length) return el("p", { class: "empty" }, "No compactions.");
  const head = (text, cls) => el("th", { class: cls, scope: "col" }, text);
  return el("div", { class: "card" }, el("table", null,
    el("thead", null, el("tr", null, head("Where"), head("When"), head("Tokens", "n wide"), head("Needed", "n wide"), head("Kept", "n"), head("Restored", "n"), head("Together", "n"))),
    el("tbody", null, items.map((c) => el("tr", null,
      el("td", null, el("a", { href: `#/${c.handle}` }, c.handle), el("span", { class: "meta" }, ` ${c.trigger}${c.ours ? ", by Strandline" : ""}`)),
      el("td", null, when(c.time)),
      el("td", { class: "n wide" }, c.pre_tokens ? `${short(c.pre_tokens)}${c.post_tokens ? ` → ${short(c.post_tokens)}` : ""}` : "–"),
      el("td", { class: "n wide", title: `${count(c.needed, "item")} known before and used afterwards` }, c.needed),
      el("td", { class: "n" }, share(c.kept)), el("td", { class: "n" }, share(c.restored)), el("td", { class: "n" }, share(c.together)))))));
}
