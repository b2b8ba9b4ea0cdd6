import { el, when, bytes, count } from "./dom.js";
import { get, places } from "./api.js";

/** session shows a session with its turns; the handle may name one of them. */
export async function session({ main, path, signal }) {
  const [id, place] = path.split("/");
  const s = await get(places(id), null, signal);
  const turns = s.turn_list.map((t) => turn(t, signal));
  main.replaceChildren(
    el("h1", null, s.title || "(no prompt)"),
    el("p", { class: "meta" }, el("code", null, s.handle), ` · ${s.project} · `, when(s.last), ` · ${count(s.turns, "turn")} · ${bytes(s.bytes)}`),
    el("div", { class: "turns" }, turns),
  );
  const wanted = place && turns[Number(place.split(".")[0])];
  if (wanted) {
    wanted.open = true;
    wanted.scrollIntoView();
  }
}

/** turn is one turn, whose text is fetched when it is opened. */
function turn(t, signal) {
  const node = el("details", { class: "turn", id: t.handle },
    el("summary", null, el("code", null, t.handle.split("/")[1]), " ", t.title || "(no prompt)"));
  node.addEventListener("toggle", async () => {
    if (!node.open || node.dataset.read) return;
    node.dataset.read = "yes";
    const whole = await get(places(t.handle), null, signal);
    node.append(...whole.blocks.filter((b) => b.text.trim()).map((b) =>
      el("section", { class: `block ${b.kind}` }, el("h3", null, [b.kind, b.name].filter(Boolean).join(" ")), el("pre", null, b.text))));
  });
  return node;
}
