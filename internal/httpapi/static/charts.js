// Charts, drawn by uPlot in the colours of the page.
import { el } from "./dom.js";

let library;

/** chart draws into a node again when the node's width or the colour scheme changes.
 * make(colour, width, UPlot) returns uPlot's options and data. */
export async function chart(node, signal, make) {
  const { default: UPlot } = await (library ??= import("./vendor/uplot.js"));
  if (signal.aborted) return;
  let plot, width = 0;
  const draw = () => {
    width = node.clientWidth;
    plot?.destroy();
    if (!width) return;
    const { options, data } = make(colour, width, UPlot);
    plot = new UPlot({ width, legend: { show: false }, ...options }, data, node);
  };
  draw();
  const resized = new ResizeObserver(() => Math.abs(node.clientWidth - width) > 1 && draw());
  resized.observe(node);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal });
  signal.addEventListener("abort", () => {
    resized.disconnect();
    plot?.destroy();
  });
}

/** colour returns the value of one of the style sheet's colours. */
export function colour(name) {
  const probe = el("span", { hidden: true });
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** axis returns options of an axis. A label that repeats the one before is left out. */
export const axis = (of, { values, ...more }) => ({ stroke: of("dim"), grid: { stroke: of("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif",
  values: (u, at) => values(u, at).map((label, i, all) => (label === all[i - 1] ? "" : label)), ...more });

/** tip shows a text next to the pointer while it is over a chart. text(i) describes point i. */
export function tip(node, text) {
  const label = el("div", { class: "tip", hidden: true });
  node.append(label);
  return (u) => {
    const i = u.cursor.idx;
    const words = i === null || i === undefined || u.cursor.left < 0 ? "" : text(i, u);
    label.hidden = !words;
    label.textContent = words;
    label.style.left = `${Math.min(Math.max(u.cursor.left, 0) + 60, node.clientWidth - label.offsetWidth - 4)}px`;
  };
}
