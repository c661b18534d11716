// @ts-check
/**
 * The calls by which an agent asks people for something, as people read them. ADK gives them names of their own, and gives the call
 * that waits the result of a failure.
 *
 * @typedef {import("./custom-event.js").Part} Part
 */

const CONFIRMATION = "adk_request_confirmation";
const CREDENTIAL = "adk_request_credential";

/**
 * The part of a message for a call by which an agent asks. `null` if it is another call.
 *
 * @param {any} call
 * @returns {Part | null}
 */
export function requestPart(call) {
  const original = call.arguments?.originalFunctionCall;
  if (call.name === CONFIRMATION) {
    const hint = call.arguments?.toolConfirmation?.hint;
    return {
      kind: "request",
      title: String(original?.name ?? "the call"),
      text: hint ? String(hint) : "",
      value: original?.args ?? {},
    };
  }
  if (call.name === CREDENTIAL) return { kind: "note", text: "A credential was requested." };
  return null;
}

/**
 * The part of a message for a result that only says that a call waits, or what a person has answered. `null` if it is another result.
 *
 * @param {any} result
 * @returns {Part | null}
 */
export function answerPart(result) {
  if (result.name === CONFIRMATION) {
    const isConfirmed = result.content?.confirmed === true;
    return { kind: "note", text: isConfirmed ? "A person has approved the call." : "A person has refused the call." };
  }
  if (result.name === CREDENTIAL) return { kind: "note", text: "A credential was sent." };
  const text = JSON.stringify(result.content ?? "");
  if (result.is_error && text.includes("requires confirmation, please approve or reject"))
    return { kind: "note", text: `The call of ${result.name} waits for an approval.` };
  return null;
}
