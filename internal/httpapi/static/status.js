import { el, bytes, short, moment } from "./dom.js";
import { get } from "./api.js";

/** status shows the archive's totals and problems. */
export async function status({ main, signal }) {
  const [s, sums] = await Promise.all([get("/status", null, signal), get("/stats", null, signal)]);
  const fact = (name, value) => el("div", { class: "card" }, el("dt", null, name), el("dd", null, value));
  const number = (n) => n.toLocaleString("en");
  const part = (n) => (n === null ? "–" : `${Math.round(n * 100)}%`);
  const missing = [
    s.uncaptured_files && `${s.uncaptured_files} transcripts have lines that are not archived: run strandline import.`,
    s.unindexed_sessions && `${s.unindexed_sessions} archived sessions are not indexed: run strandline maintain.`,
    s.pending && "A session is waiting to be indexed: run strandline maintain to do it now.",
    s.errors_24h && `${s.errors_24h} errors in the last 24 hours: run strandline doctor.`,
  ].filter(Boolean);
  main.replaceChildren(
    el("h1", null, "Archive status"),
    missing.length ? el("ul", null, missing.map((m) => el("li", { class: "warn" }, m))) : el("p", { class: "good" }, "No problems found."),
    el("dl", { class: "facts" },
      fact("Sessions", number(s.sessions)), fact("Sub-agent runs", number(s.agents)), fact("Projects", number(s.projects)), fact("Turns", number(s.turns)),
      fact("Tool calls", number(s.calls)), fact("Compactions", number(s.compactions)), fact("Transcripts", bytes(s.bytes)), fact("Logs on disk", bytes(s.log_bytes)),
      fact("Index", bytes(s.index_bytes)), fact("Output tokens", short(sums.output_tokens)), fact("Cache reads", short(sums.cache_read_tokens)), fact("Memory health", part(s.memory.health))),
    el("p", { class: "meta" }, `${s.home} · ${moment(s.first)} to ${moment(s.last)} · strandline ${s.version}`));
}
