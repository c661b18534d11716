// @ts-check
/** The view of all flows. */

import { link } from "./address.js";
import * as api from "./api.js";
import { emptyState } from "./announce.js";
import { h, replace } from "./dom.js";
import { Drawing } from "./drawing.js";
import { isStartable } from "./flow-schemas.js";
import { count } from "./format.js";
import { openStartDialog } from "./start-dialog.js";
import { statusCounts } from "./status-counts.js";

/** @param {import("./main.js").ViewContext} context */
export async function showFlows({ main, signal, setTitle }) {
  setTitle("Flows");
  const flows = await api.flows(signal);
  if (flows.length === 0) {
    replace(
      main,
      h("h1", null, "Flows"),
      emptyState(
        "No flows yet",
        "The server has no flows. Register one where the program builds its server, and start the program again.",
      ),
    );
    return;
  }
  const search = h("input", { type: "search", "aria-label": "Search flows", placeholder: "Search flows" });
  const cards = flows.map((flow) => ({ flow, element: card(flow, signal) }));
  const none = h("p", { class: "muted", hidden: true }, "No flow has this name. Change the search.");
  search.addEventListener("input", () => {
    const text = search.value.trim().toLowerCase();
    for (const { flow, element } of cards) element.hidden = !flow.name.toLowerCase().includes(text);
    none.hidden = cards.some(({ element }) => !element.hidden);
  });
  replace(
    main,
    h(
      "header",
      { class: "view-head" },
      h("div", { class: "view-title" }, h("h1", null, "Flows"), flows.length > 6 ? search : null),
      h("p", { class: "muted" }, count(flows.length, "flow")),
    ),
    h(
      "div",
      { class: "cards" },
      cards.map(({ element }) => element),
    ),
    none,
  );
}

/**
 * @param {import("./types.js").Flow} flow
 * @param {AbortSignal} signal
 */
function card(flow, signal) {
  const drawing = new Drawing(flow, { fixed: true });
  const counts = h("div", { class: "counts" });
  const element = h(
    "article",
    { class: "card" },
    h(
      "div",
      { class: "card-head" },
      h("h2", null, h("a", { href: link(["flow", flow.name]) }, flow.name)),
      h("span", { class: "chip" }, flow.kind),
    ),
    h("div", { class: "card-drawing" }, drawing.element),
    counts,
    h(
      "div",
      { class: "buttons" },
      !isStartable(flow)
        ? null
        : h("button", { type: "button", class: "primary", onclick: () => void openStartDialog(flow) }, "Start a thread"),
      h("a", { class: "button", href: link(["threads"], { flow: flow.name }) }, "Threads"),
    ),
  );
  // Cards that nobody sees send no requests.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    void drawing.load(signal);
    void statusCounts(counts, flow, signal);
  });
  seen.observe(element);
  signal.addEventListener("abort", () => seen.disconnect());
  return element;
}
