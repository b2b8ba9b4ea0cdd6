// Markdown as elements. marked only splits the text into tokens; elements are made
// here, so archived text never becomes markup. HTML in it is shown as text.
import { lexer } from "./vendor/marked.js";
import { el, copy } from "./dom.js";

const most = 200_000; // characters; longer texts are shown as they are

/** markdown renders a text as an array of nodes. */
export function markdown(text) {
  if (text.length > most) return [el("pre", null, text)];
  try {
    return blocks(lexer(text, { gfm: true, breaks: true }));
  } catch {
    return [el("pre", null, text)];
  }
}

const blocks = (tokens) => tokens.flatMap(block);
const inline = (tokens) => (tokens ?? []).flatMap(span);
const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'", "&nbsp;": " " };
const plain = (text) => text.replace(/&(?:lt|gt|amp|quot|#39|nbsp);/g, (e) => entities[e]);

function block(t) {
  switch (t.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return [el("p", { class: `heading h${t.depth}`, role: "heading", "aria-level": Math.min(t.depth + 2, 6) }, inline(t.tokens))];
    case "paragraph":
      return [el("p", null, inline(t.tokens))];
    case "code":
      return [code(t.text, t.lang)];
    case "hr":
      return [el("hr")];
    case "blockquote":
      return [el("blockquote", null, blocks(t.tokens))];
    case "list":
      return [el(t.ordered ? "ol" : "ul", { class: "list", start: t.ordered && t.start !== 1 ? t.start : undefined }, t.items.map(item))];
    case "table":
      return [el("div", { class: "wide-table", tabindex: "0" }, el("table", null,
        el("thead", null, el("tr", null, t.header.map((c) => el("th", { scope: "col" }, inline(c.tokens))))),
        el("tbody", null, t.rows.map((r) => el("tr", null, r.map((c) => el("td", null, inline(c.tokens))))))))];
    case "html":
      return [el("p", { class: "markup" }, t.text.trim())];
    default: // a text outside a paragraph
      return span(t);
  }
}

const item = (t) => el("li", null, t.task && el("span", { class: "tick", role: "img", "aria-label": t.checked ? "done" : "open" }, t.checked ? "☑ " : "☐ "),
  blocks(t.tokens.filter((x) => x.type !== "checkbox")));

/** code renders a code block with a copy button. */
export function code(text, lang = "") {
  return el("div", { class: "code" }, copy(text, "Copy the code"), el("pre", { tabindex: "0", "data-lang": lang || undefined }, el("code", null, text)));
}

function span(t) {
  switch (t.type) {
    case "strong":
      return [el("strong", null, inline(t.tokens))];
    case "em":
      return [el("em", null, inline(t.tokens))];
    case "del":
      return [el("del", null, inline(t.tokens))];
    case "codespan":
      return [el("code", null, t.text)];
    case "br":
      return [el("br")];
    case "link":
      return [link(t.href, inline(t.tokens))];
    case "image": // of another site: the page loads none
      return [link(t.href, [`[picture: ${t.text || t.href}]`])];
    case "checkbox":
      return [];
    default:
      return t.tokens ? inline(t.tokens) : [plain(t.text ?? t.raw)];
  }
}

/** link renders a link to another site; other targets are shown as text. */
function link(href, children) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return el("span", { title: href }, children);
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, children);
}
