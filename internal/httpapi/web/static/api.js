// The API, as the views ask it.

/** Problem is what the API answers when something is wrong. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? `the server answered ${status}`);
    this.status = status;
    this.hint = body?.hint ?? "";
  }
}

/** address is a path of the API with its query; what is empty is left out. */
export function address(path, query) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v !== undefined && v !== "" && v !== false && v !== null) given.append(name, v);
    }
  }
  const text = given.toString();
  return `/api/v1${path}${text ? `?${text}` : ""}`;
}

/** get asks for JSON. signal ends the wait. */
export async function get(path, query, signal) {
  const answer = await fetch(address(path, query), { signal, headers: { Accept: "application/json" }, credentials: "same-origin" });
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, body);
  return body;
}

/** places is the path of a handle: a session, a turn or a step. */
export function places(handle) {
  const [session, place] = handle.split("/");
  const base = `/sessions/${encodeURIComponent(session)}`;
  return place ? `${base}/turns/${encodeURIComponent(place)}` : base;
}
