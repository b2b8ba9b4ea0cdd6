// Line diff of an edit.
import { el } from "./dom.js";

const most = 600; // maximal lines of a text to compare

/** changesOf returns the old and new texts of an edit's input. */
export function changesOf(text) {
  const list = /(?:^|\n)edits:\n(\[[\s\S]*?\n\])/.exec(text);
  if (list) {
    try {
      return JSON.parse(list[1]).map((e) => ({ old: e.old_string ?? "", now: e.new_string ?? "" }));
    } catch { /* not JSON: a text that looks like it */ }
  }
  const old = part(text, "old_string", "new_string");
  const now = part(text, "new_string", "old_string");
  if (now !== undefined) return [{ old: old ?? "", now }];
  const whole = part(text, "content", "");
  return whole === undefined ? [] : [{ old: "", now: whole }];
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

const split = (text) => (text === "" ? [] : text.split("\n"));

/** ends returns how many lines two texts share at their begin and end. */
function ends(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [head, tail];
}

/** counted returns the number of added and removed lines. */
export function counted({ old, now }) {
  const a = split(old), b = split(now);
  const [head, tail] = ends(a, b);
  return [b.length - head - tail, a.length - head - tail];
}

/** diff renders removed, added and unchanged lines. */
export function diff({ old, now }) {
  const a = split(old), b = split(now);
  const out = el("pre", { class: "diff", tabindex: "0" });
  const line = (kind, sign, text) => out.append(el("span", { class: kind }, sign && el("span", { class: "hidden" }, sign), text || " "));
  const gone = (text) => line("gone", "removed: ", text), add = (text) => line("add", "added: ", text);
  const [head, tail] = ends(a, b);
  a.slice(0, head).forEach((text) => line("", "", text));
  middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), line, gone, add);
  a.slice(a.length - tail).forEach((text) => line("", "", text));
  return out;
}

function middle(a, b, line, gone, add) {
  if (a.length > most || b.length > most) {
    a.forEach(gone);
    b.forEach(add);
    return;
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
}
