// @ts-check
/** When a checkpoint was stored. */

/**
 * @param {import("./types.js").View} view
 */
export function storedMs(view) {
  return view.checkpoint_ms ?? view.created_ms;
}
