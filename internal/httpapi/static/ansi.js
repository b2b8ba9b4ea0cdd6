// Terminal output as elements.
import { el } from "./dom.js";

/** terminal renders output: colours of SGR sequences as classes, other sequences are dropped. */
export function terminal(text) {
  const out = [];
  let style = {}, at = 0;
  const put = (part) => {
    const plain = part.replace(/\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]?|.)?/gs, "").replace(/[^\n]*\r(?!\n)/g, "").replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
    if (!plain) return;
    const names = classes(style);
    out.push(names ? el("span", { class: names }, plain) : plain);
  };
  for (const m of text.matchAll(/\x1b\[([0-9;:]*)m/g)) {
    put(text.slice(at, m.index));
    at = m.index + m[0].length;
    style = changed(style, m[1].split(/[;:]/).map(Number));
  }
  put(text.slice(at));
  return out;
}

const classes = (s) => [s.bold && "bold", s.faint && "dim", s.italic && "italic", s.underline && "underline", s.colour >= 0 && `ansi${s.colour}`].filter(Boolean).join(" ");

/** changed applies the codes of one SGR sequence. Backgrounds are ignored. */
function changed(old, codes) {
  let s = { ...old };
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i];
    if (c === 0) s = {};
    else if (c === 1) s.bold = true;
    else if (c === 2) s.faint = true;
    else if (c === 3) s.italic = true;
    else if (c === 4) s.underline = true;
    else if (c === 22) s.bold = s.faint = false;
    else if (c === 23) s.italic = false;
    else if (c === 24) s.underline = false;
    else if (c >= 30 && c <= 37) s.colour = c - 30;
    else if (c >= 90 && c <= 97) s.colour = c - 90;
    else if (c === 39) s.colour = -1;
    else if (c === 38 || c === 48) {
      const rgb = codes[i + 1] === 2 ? codes.slice(i + 2, i + 5) : cube(codes[i + 2]);
      if (c === 38) s.colour = nearest(rgb);
      i += codes[i + 1] === 2 ? 4 : 2;
    }
  }
  return s;
}

/** cube returns the colour of a number of the 256-colour palette. */
function cube(n) {
  if (n < 16) return [n & 1, (n >> 1) & 1, (n >> 2) & 1].map((bit) => bit * 255);
  if (n > 231) return Array(3).fill(8 + 10 * (n - 232));
  return [Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map((v) => v * 51);
}

/** nearest returns the basic colour next to a colour; greys are the text's colour. */
function nearest(rgb) {
  const top = Math.max(...rgb), low = Math.min(...rgb);
  if (top - low < 40) return -1;
  return rgb.reduce((sum, v, i) => sum + (v > (top + low) / 2 ? 1 << i : 0), 0);
}
