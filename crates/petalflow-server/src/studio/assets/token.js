// @ts-check
/** The token that the server asks for, kept for this tab only. */

const KEY = "petalflow-token";

/** Takes the token out of the address, if it is there. */
export function takeFromAddress() {
  const match = /^#token=([^&]*)&?(.*)$/.exec(location.hash);
  if (!match) return;
  save(decoded(match[1] ?? ""));
  const rest = match[2] ? `#${match[2]}` : "#/flows";
  history.replaceState(null, "", location.pathname + location.search + rest);
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @returns {string} */
export function current() {
  return sessionStorage.getItem(KEY) ?? "";
}

/** @param {string} token */
export function save(token) {
  sessionStorage.setItem(KEY, token);
}
