// The course of a session's context, with its compactions.
import { el, short, moment } from "./dom.js";
import { get, pathOf } from "./api.js";
import { chart, axis, tip } from "./charts.js";

/** curve draws the tokens of a session's context into a node. go(handle) opens a step. */
export async function curve(node, s, signal, go) {
  const course = await get(`${pathOf(s.handle)}/curve`, null, signal).catch(() => null);
  if (!course || course.points.length < 3) return;
  const points = course.points, top = Math.max(...points.map((p) => p.tokens));
  const marks = course.compactions.map((c) => ({ ...c, x: placeOf(points, c) }));
  const area = el("div", { class: "plot", role: "img", "aria-label": `Tokens in the context over ${points.length} responses, up to ${short(top)}, with ${course.compactions.length} compactions` });
  node.replaceChildren(area, el("p", { class: "meta" }, `Tokens in the context, up to ${short(top)}. `, marks.length ? "Compactions: " : "Click the curve to open a response.",
    marks.flatMap((c, i) => [i ? ", " : "", el("a", { href: `#/${s.handle}/compactions?index=${c.index}` }, `${c.index + 1}${c.pre_tokens ? ` at ${short(c.pre_tokens)}` : ""}`)])));
  const few = s.turns < 4; // then places are more telling than turns
  const label = (i) => { const place = points[i]?.handle.split("/")[1]; return !place ? "" : few ? place : `turn ${place.split(".")[0]}`; };
  await chart(area, signal, (colour) => ({
    options: {
      height: 130, padding: [8, 24, 0, 0],
      cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: [0, top * 1.05] } },
      axes: [axis(colour, { values: (_, list) => list.map(label), space: 90, size: 24 }), axis(colour, { values: (_, list) => list.map(short), size: 50, space: 30 })],
      series: [{}, { stroke: colour("accent"), width: 1.5, fill: colour("soft"), points: { show: false } }],
      hooks: {
        setCursor: [tip(area, (i) => `${short(points[i].tokens)} · ${points[i].handle.split("/")[1]} · ${moment(points[i].time)}`)],
        draw: [(u) => lines(u, marks, colour("warn"))],
        ready: [(u) => u.over.addEventListener("click", () => u.cursor.idx !== null && go(points[u.cursor.idx].handle))],
      },
    },
    data: [points.map((_, i) => i), points.map((p) => p.tokens)],
  }));
}

/** placeOf returns the number of the first point after a compaction. */
function placeOf(points, c) {
  const i = points.findIndex((p) => p.time >= c.time);
  return i < 0 ? points.length - 1 : i;
}

/** lines draws the compactions as dashed lines. */
function lines(u, marks, stroke) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const c of marks) {
    const x = u.valToPos(c.x - 0.5, "x", true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
