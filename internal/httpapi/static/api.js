// Access to the API.

/** Problem is an error response of the API (RFC 9457). */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? `the server answered ${status}`);
    this.status = status;
    this.hint = body?.hint ?? "";
  }
}

/** address returns an API path with its query, without empty values. */
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

/** get fetches JSON. signal aborts the request. */
export async function get(path, query, signal) {
  const response = await fetch(address(path, query), { signal, headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => null));
  return response.json();
}

/** pathOf returns the API path of a handle of a session, a turn or a step. */
export function pathOf(handle) {
  const [session, place] = handle.split("/");
  const base = `/sessions/${encodeURIComponent(session)}`;
  return place ? `${base}/turns/${encodeURIComponent(place)}` : base;
}
