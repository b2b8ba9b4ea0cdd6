// One turn: its prompt, replies and tool calls.
import { el, copy, change, lasting, when, count } from "./dom.js";
import { get, pathOf, address } from "./api.js";
import { markdown } from "./markdown.js";
import { tool, picture } from "./tools.js";

/** turn renders a turn; paths are shown without the folder root. read() fetches and fills in its content, again after it has grown. */
export function turn(t, root, signal) {
  const number = t.handle.split("/")[1];
  const content = el("div", { class: "content" }, el("p", { class: "dim" }, "Loading …"));
  const node = el("article", { class: `turn${t.dead ? " dead" : ""}`, id: `t${number}`, "aria-labelledby": `t${number}-title` },
    el("header", { class: "turn-head" },
      el("h2", { id: `t${number}-title` }, el("a", { href: `#/${t.handle}`, title: "Link to this turn" }, `Turn ${number}`)),
      el("span", { class: "meta" }, t.dead && "rewound · ", when(t.start), ` · ${count(t.steps, "step")}`, t.seconds >= 1 && ` · ${lasting(t.seconds)}`, t.failed > 0 && ` · ${t.failed} failed`, " ", change(t.added, t.removed)),
      copy(`${location.origin}/#/${t.handle}`, "Copy a link to this turn")),
    content);
  let reading;
  node.read = (again) => (reading = again || !reading ? fill(content, t, root, signal) : reading);
  node.handle = t.handle;
  return node;
}

async function fill(content, t, root, signal) {
  const open = new Set([...content.querySelectorAll("details[open]")].map((d) => d.dataset.key));
  try {
    const place = await get(pathOf(t.handle), null, signal);
    content.replaceChildren(...blocks(place, root));
    for (const d of content.querySelectorAll("details")) if (open.has(d.dataset.key)) d.open = true;
  } catch (error) {
    if (!signal.aborted) content.replaceChildren(el("p", { class: "bad" }, error.message));
  }
}

const hidden = new Set(["attachment", "other"]);

/** blocks renders a turn's blocks. A tool's result is shown with its call. */
function blocks(place, root) {
  const calls = new Map(place.calls.map((c) => [c.tool_id, c]));
  const uses = new Set(place.blocks.filter((b) => b.kind === "tool_use").map((b) => b.tool_id));
  const results = new Map(place.blocks.filter((b) => b.kind === "tool_result").map((b) => [b.tool_id, b]));
  const pictures = picturesOf(place);
  const out = [];
  for (const [i, b] of place.blocks.entries()) {
    const own = pictures.get(b) ?? [];
    if (b.own || (hidden.has(b.kind) && !own.length)) continue;
    if (b.kind === "tool_result" && uses.has(b.tool_id)) continue;
    if (b.kind !== "tool_use" && !b.text.trim()) continue;
    const result = results.get(b.tool_id);
    const made = b.kind === "tool_use" ? tool(b, calls.get(b.tool_id), result, pictures.get(result) ?? [], root) : content(b, own);
    if (made instanceof HTMLDetailsElement) made.dataset.key = `${b.line}.${i}`;
    out.push(el("div", { class: `block ${b.kind}`, "data-line": b.line, "data-result": b.kind === "tool_use" && result ? result.line : undefined }, made));
  }
  return out.length ? out : [el("p", { class: "dim" }, "No text.")];
}

/** picturesOf returns the addresses of the pictures of each block. Their numbers count
 * within a line of the transcript. */
function picturesOf(place) {
  const session = place.handle.split("/")[0];
  const seen = new Map(), out = new Map();
  for (const b of place.blocks) {
    const n = b.kind === "tool_result" ? (b.text.match(/^\[image\]$/gm) ?? []).length : b.text === "[image]" ? 1 : 0;
    const from = seen.get(b.line) ?? 0;
    seen.set(b.line, from + n);
    if (n) out.set(b, Array.from({ length: n }, (_, i) => address(`/sessions/${encodeURIComponent(session)}/images/${b.line}/${from + i}`)));
  }
  return out;
}

function content(b, pictures) {
  if (pictures.length) return pictures.map(picture);
  switch (b.kind) {
    case "prompt":
      return clamped(el("div", { class: "text" }, command(b.text) ?? markdown(b.text)), b.text);
    case "reply":
      return el("div", { class: "text" }, markdown(b.text), copy(b.text, "Copy this reply"));
    case "summary":
      return fold("The client's summary of the conversation so far", b.text, markdown);
    case "thinking":
      return fold("reasoning", b.text, markdown);
    default:
      return fold([b.kind.replace("_", " "), b.name].filter(Boolean).join(" "), b.text, (text) => [el("pre", { tabindex: "0" }, text)]);
  }
}

/** clamped shows the begin of a long text, with a button for the rest. */
function clamped(node, text) {
  if (text.length < 3000 && text.split("\n").length < 40) return node;
  node.classList.add("clamped");
  const more = el("button", { type: "button", onclick: () => { node.classList.remove("clamped"); more.remove(); } }, "Show all");
  return [node, more];
}

/** command renders a slash command, which the client writes as elements. */
function command(text) {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text);
  const words = /<command-args>([\s\S]*?)<\/command-args>/.exec(text);
  return name ? [el("p", null, el("code", null, `${name[1]}${words?.[1] ? ` ${words[1]}` : ""}`))] : undefined;
}

/** fold renders a text that is seldom read; it is built when it is opened. */
function fold(title, text, build) {
  const node = el("details", { class: "aside" }, el("summary", null, el("span", { class: "name" }, title), el("span", { class: "start" }, text.trim().slice(0, 160))));
  node.build = () => node.childElementCount < 2 && node.append(el("div", { class: "inside text" }, build(text)));
  node.addEventListener("toggle", () => node.open && node.build());
  return node;
}
