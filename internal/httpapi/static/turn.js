// One turn: its prompt, replies and tool calls.

import { el, count } from "./dom.js";
import { get, pathOf } from "./api.js";
import { changeOf, diff } from "./diff.js";

/** turn renders a turn. Its text is fetched when it is opened, or by its read(). */
export function turn(t, signal) {
  const node = el("details", { class: `turn card${t.dead ? " dead" : ""}`, id: `t${t.handle.split("/")[1]}` },
    el("summary", null, el("code", { class: "dim" }, t.handle.split("/")[1]),
      el("span", { class: "title" }, t.title || "(no prompt)", t.dead && el("span", { class: "dim" }, " (rewound)")),
      el("span", { class: "meta" }, count(t.steps, "step"))));
  let reading;
  node.read = () => (reading ??= read(node, t, signal));
  node.addEventListener("toggle", () => node.open && node.read());
  return node;
}

async function read(node, t, signal) {
  const out = el("div", { class: "content" }, el("p", { class: "dim" }, "Loading …"));
  node.append(out);
  try {
    out.replaceChildren(...blocks(await get(pathOf(t.handle), null, signal)));
  } catch (error) {
    out.replaceChildren(el("p", { class: "bad" }, error.message));
  }
}

const hidden = new Set(["attachment", "other"]);

/** blocks renders a turn's blocks. A tool's result is shown with its call. */
export function blocks(place) {
  const calls = new Map(place.calls.map((c) => [c.tool_id, c]));
  const results = new Map(place.blocks.filter((b) => b.kind === "tool_result").map((b) => [b.tool_id, b]));
  const out = [];
  for (const b of place.blocks) {
    if (b.own || hidden.has(b.kind)) continue;
    if (b.kind === "tool_result" && place.blocks.some((x) => x.kind === "tool_use" && x.tool_id === b.tool_id)) continue;
    if (b.kind !== "tool_use" && !b.text.trim()) continue;
    const node = el("div", { class: `block ${b.kind}`, "data-line": b.line }, content(b, calls.get(b.tool_id), results.get(b.tool_id)));
    out.push(node);
  }
  return out.length ? out : [el("p", { class: "dim" }, "No text.")];
}

function content(b, call, result) {
  switch (b.kind) {
    case "prompt":
    case "reply":
      return el("pre", null, b.text);
    case "tool_use":
      return tool(b, call, result);
    case "summary":
      return fold("The client's summary of the conversation so far", b.text);
    default:
      return fold([b.kind.replace("_", " "), b.name].filter(Boolean).join(" "), b.text);
  }
}

const fold = (title, text) => el("details", { class: "aside" }, el("summary", null, el("span", { class: "dim" }, title), el("code", { class: "dim" }, text.trim().slice(0, 160))), el("pre", null, text));

/** tool renders a tool call and its outcome. */
function tool(b, call, result) {
  const change = call?.kind === "edit" ? changeOf(b.text) : undefined;
  const failed = call?.failed || result?.error;
  const about = call?.command || ((call?.kind === "edit" || call?.kind === "read") && call.files?.[0]) || b.text.split("\n")[0];
  const node = el("details", { class: "tool", open: !!change },
    el("summary", null, el("span", { class: "name" }, b.name), el("code", { title: about }, about), outcome(call, failed, result)),
    change ? diff(change) : el("pre", null, b.text),
    failed && call?.error && el("pre", { class: "why" }, call.error),
    result?.text.trim() && (change ? undefined : el("pre", null, result.text)));
  return node;
}

function outcome(call, failed, result) {
  const out = [];
  if (call?.duration_ms >= 1000) out.push(el("span", { class: "meta" }, `${(call.duration_ms / 1000).toFixed(1)} s`));
  if (call?.exit !== undefined) out.push(el("span", { class: `badge ${call.exit ? "bad" : "good"}` }, `exit ${call.exit}`));
  else if (failed) out.push(el("span", { class: "badge bad" }, "failed"));
  else if (!result) out.push(el("span", { class: "badge warn" }, "no result"));
  return out;
}
