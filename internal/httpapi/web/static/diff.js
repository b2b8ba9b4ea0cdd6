// A change as it was made, line by line.
import { el } from "./dom.js";

const most = 600; // lines of a text that are compared

/** changeOf takes an edit's input apart: what stood there and what was put there. */
export function changeOf(text) {
  const old = part(text, "old_string", "new_string");
  const now = part(text, "new_string", "old_string");
  if (now !== undefined) return { old: old ?? "", now };
  const whole = part(text, "content", "");
  return whole === undefined ? undefined : { old: "", now: whole };
}

/** part is the value of a name in a tool's input as it is printed: "name: value", or
 * the value on the lines below "name:" up to another name. */
function part(text, name, other) {
  const begin = new RegExp(`(?:^|\\n)${name}:(?: |\\n|$)`).exec(text);
  if (!begin) return undefined;
  const from = begin.index + begin[0].length;
  const rest = text.slice(from);
  const end = other ? rest.search(new RegExp(`(?:^|\\n)(?:${other}|replace_all|file_path):`)) : -1;
  return end < 0 ? rest : rest.slice(0, end);
}

/** diff shows a change: what went, what came, and what stood around it. */
export function diff({ old, now }) {
  const a = old === "" ? [] : old.split("\n"), b = now === "" ? [] : now.split("\n");
  const out = el("pre", { class: "diff" });
  const line = (kind, sign, text) => out.append(el("span", { class: kind }, sign && el("span", { class: "hidden" }, sign), text || " "));
  const gone = (text) => line("gone", "removed: ", text), add = (text) => line("add", "added: ", text);
  if (a.length > most || b.length > most) {
    a.forEach(gone);
    b.forEach(add);
    return out;
  }
  // The longest run of lines that both have in order, as long as each rest of them.
  const same = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      same[i][j] = a[i] === b[j] ? same[i + 1][j + 1] + 1 : Math.max(same[i + 1][j], same[i][j + 1]);
    }
  }
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      line("", "", a[i]);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && same[i + 1][j] >= same[i][j + 1])) gone(a[i++]);
    else add(b[j++]);
  }
  return out;
}
