// Line diff of an edit.
import { el } from "./dom.js";

const most = 600; // maximal lines of a text to compare

/** changeOf returns the old and new text of an edit's input. */
export function changeOf(text) {
  const old = part(text, "old_string", "new_string");
  const now = part(text, "new_string", "old_string");
  if (now !== undefined) return { old: old ?? "", now };
  const whole = part(text, "content", "");
  return whole === undefined ? undefined : { old: "", now: whole };
}

/** part returns a field of a printed tool input: "name: value", or the lines after
 * "name:" up to the next field. */
function part(text, name, other) {
  const begin = new RegExp(`(?:^|\\n)${name}:(?: |\\n|$)`).exec(text);
  if (!begin) return undefined;
  const from = begin.index + begin[0].length;
  const rest = text.slice(from);
  const end = other ? rest.search(new RegExp(`(?:^|\\n)(?:${other}|replace_all|file_path):`)) : -1;
  return end < 0 ? rest : rest.slice(0, end);
}

/** diff renders removed, added and unchanged lines. */
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
  // same[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
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
