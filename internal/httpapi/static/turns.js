// The turns of a session, fetched in pages.
import { get, pathOf } from "./api.js";

const size = 200;

/** source gives the turns of a session by their number. */
export async function source(handle, signal) {
  const pages = new Map(); // promises of pages
  const page = (n) => {
    if (!pages.has(n)) {
      const made = get(`${pathOf(handle)}/turns`, { from: n * size, limit: size }, signal);
      made.catch(() => pages.delete(n));
      pages.set(n, made);
    }
    return pages.get(n);
  };
  const head = await page(0);
  const s = {
    session: head,
    get total() { return s.session.total; },
    /** at returns a turn; undefined if there is none. */
    async at(i) {
      if (i < 0 || i >= s.total) return undefined;
      return (await page(Math.floor(i / size))).page[i % size];
    },
    /** grow forgets the last page and fetches the session again. */
    async grow() {
      pages.delete(Math.floor(Math.max(s.total - 1, 0) / size));
      s.session = await get(`${pathOf(handle)}/turns`, { from: -1, limit: 1 }, signal);
    },
  };
  return s;
}
