// Views of tool calls.
import { el, copy, change } from "./dom.js";
import { changesOf, diff, counted } from "./diff.js";
import { terminal } from "./ansi.js";
import { markdown, code } from "./markdown.js";

/** tool renders a call and its result; pictures are the addresses of its images, root is
 * the project's folder, which paths are shown without. The content is built when it is opened. */
export function tool(b, call, result, pictures, root) {
  const view = viewOf(b, call, result);
  const about = root && view.about.startsWith(`${root}/`) ? view.about.slice(root.length + 1) : view.about;
  const failed = call?.failed || result?.error;
  const node = el("details", { class: `tool ${view.kind}${failed ? " failed" : ""}` },
    el("summary", null, el("span", { class: "name" }, b.name), el("code", { title: view.about }, about), view.facts, outcome(call, failed, result)));
  const build = () => {
    if (node.childElementCount > 1) return;
    node.append(el("div", { class: "inside" }, view.body(), failed && call?.error && !result?.text && el("pre", { class: "why" }, call.error), pictures.map(picture)));
  };
  node.addEventListener("toggle", () => node.open && build());
  node.build = build;
  if (view.open || pictures.length) {
    build();
    node.open = true;
  }
  return node;
}

/** picture renders a picture at an address of the API. */
export const picture = (src) => el("a", { href: src, target: "_blank", class: "picture" }, el("img", { src, alt: "picture in the conversation", loading: "lazy" }));

const small = 40; // changed lines up to which a diff is shown at once

function viewOf(b, call, result) {
  const todos = fieldOf(b.text, "todos");
  if (b.name === "TodoWrite" && Array.isArray(todos)) {
    const done = todos.filter((t) => t.status === "completed").length;
    return { kind: "todo", about: `${done} of ${todos.length} done`, open: true, body: () => checklist(todos) };
  }
  if (call?.kind === "edit") {
    const changes = changesOf(b.text);
    const [added, removed] = changes.reduce(([a, r], c) => counted(c).map((n, i) => n + [a, r][i]), [0, 0]);
    return { kind: "edit", about: call.files?.[0] ?? first(b.text), facts: change(added, removed), open: added + removed <= small && changes.length > 0,
      body: () => [changes.length ? changes.map(diff) : output(b.text), result?.error && output(result.text)] };
  }
  if (call?.kind === "command") {
    const command = call.command || b.text;
    return { kind: "shell", about: first(command), body: () => [el("div", { class: "typed" }, copy(command, "Copy the command"), el("pre", { tabindex: "0" }, command)), output(result?.text ?? "")] };
  }
  if (call?.kind === "agent") {
    return { kind: "agent", about: first(fieldOf(b.text, "description") ?? b.text), body: () => [el("div", { class: "text" }, markdown(fieldOf(b.text, "prompt") ?? b.text)), result && [el("h4", null, "Its answer"), el("div", { class: "text" }, markdown(result.text))]] };
  }
  const about = (call?.kind === "read" && call.files?.[0]) || first(b.text);
  return { kind: call?.kind ?? "other", about, body: () => [about !== b.text && output(b.text), output(result?.text ?? "")] };
}

const first = (text) => text.trim().split("\n", 1)[0].slice(0, 300);

/** fieldOf returns a member of a printed tool input; an array or object is parsed. */
function fieldOf(text, name) {
  const at = new RegExp(`(?:^|\\n)${name}:[ \\n]`).exec(text);
  if (!at) return undefined;
  const rest = text.slice(at.index + at[0].length);
  const end = rest.search(/\n[a-z_]+:(?: |\n)/);
  const value = end < 0 ? rest : rest.slice(0, end);
  if (!/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(rest);
  } catch {
    try { return JSON.parse(value); } catch { return undefined; }
  }
}

const states = { completed: ["☑", "done"], in_progress: ["◐", "in progress"], pending: ["☐", "open"] };

const checklist = (todos) => el("ul", { class: "todos" }, todos.map((t) => {
  const [sign, word] = states[t.status] ?? ["·", t.status];
  return el("li", { class: t.status }, el("span", { role: "img", "aria-label": word }, sign), " ", t.content ?? t.subject ?? "");
}));

const lines = 400; // shown at once

/** output renders a tool's output: long ones folded, terminal colours kept. */
function output(text) {
  if (!text.trim()) return undefined;
  const all = text.replace(/\n+$/, "").split("\n");
  const node = el("pre", { class: "output", tabindex: "0" }, terminal(all.slice(0, lines).join("\n")));
  if (all.length <= lines) return node;
  const more = el("button", { type: "button", onclick: () => { node.replaceChildren(...terminal(all.join("\n"))); more.remove(); } }, `Show all ${all.length.toLocaleString("en")} lines`);
  return [node, more];
}

function outcome(call, failed, result) {
  const out = [];
  if (call?.duration_ms >= 1000) out.push(el("span", { class: "meta" }, `${(call.duration_ms / 1000).toFixed(1)} s`));
  if (call?.exit) out.push(el("span", { class: "badge bad" }, `exit ${call.exit}`));
  else if (failed) out.push(el("span", { class: "badge bad" }, call?.error?.startsWith("refused by the user") ? "refused" : "failed"));
  else if (!result) out.push(el("span", { class: "badge warn" }, "no result"));
  else if (call?.exit === 0) out.push(el("span", { class: "good", role: "img", "aria-label": "succeeded" }, "✓"));
  return out;
}
