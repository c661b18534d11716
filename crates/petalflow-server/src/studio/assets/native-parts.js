// @ts-check
/** Parts of messages about tools that a provider runs itself, and the sources that a text cites. */

/** @typedef {import("./custom-event.js").Part} Part */
/** @typedef {{[name: string]: any}} Fields */

/**
 * A source that the text before it cites.
 *
 * @param {Fields} citation
 * @returns {Part}
 */
export function sourcePart(citation) {
  const { web, file, document } = citation.source ?? {};
  const title = web?.title ?? web?.url ?? file?.name ?? file?.id ?? document?.title ?? "a source without a name";
  return { kind: "source", title: String(title), text: citation.quote, value: webAddress(web?.url) };
}

/**
 * The sources without those that were cited before.
 *
 * @param {Part[]} parts
 */
export function eachSourceOnce(parts) {
  const seen = new Set();
  return parts.filter((part) => {
    if (part.kind !== "source") return true;
    const name = `${part.value} ${part.title}`;
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
}

/**
 * An address that is safe in a link: a model may write any text.
 *
 * @param {unknown} url
 */
function webAddress(url) {
  return typeof url === "string" && /^https?:\/\//i.test(url) ? url : undefined;
}

/**
 * The use of a tool of the provider, or what came of it. Null for other things of a provider.
 *
 * @param {Fields} value
 * @returns {Part | null}
 */
export function nativePart(value) {
  const type = String(value.type ?? "");
  if (type === "server_tool_use") return { kind: "call", title: String(value.name), value: value.input };
  if (type.endsWith("_tool_result")) return { kind: "result", title: type.replace(/_tool_result$/, ""), value: value.content };
  if (/^(web_search|file_search|code_interpreter|image_generation)_call$/.test(type))
    return { kind: "call", title: type.replace(/_call$/, ""), value };
  if (value.toolCall) return { kind: "call", title: String(value.toolCall.toolType), value: value.toolCall.args };
  if (value.toolResponse) return { kind: "result", title: String(value.toolResponse.toolType), value: value.toolResponse.response };
  if (value.groundingMetadata) return { kind: "result", title: "search", value: value.groundingMetadata };
  return null;
}
