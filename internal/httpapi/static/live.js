import { announce } from "./dom.js";
import { address } from "./api.js";

/** follow calls update for each session that grows, until signal aborts. session limits
 * it to one. Calls do not overlap. */
export function follow(signal, session, update) {
  const stream = new EventSource(address("/events", { session }));
  let running = Promise.resolve();
  stream.addEventListener("turns", (e) => {
    const grown = JSON.parse(e.data);
    announce(`${grown.session.handle} has new turns`);
    running = running.then(() => !signal.aborted && update(grown)).catch(() => {}); // the next event retries
  });
  signal.addEventListener("abort", () => stream.close());
}
