// @ts-check
/** The view of all threads: filters, and a table that loads more while it is scrolled. */

/** @typedef {import("./types.js").Info} Info */

import { link, note } from "./address.js";
import * as api from "./api.js";
import { messageOf, toast } from "./announce.js";
import { afterPause, h, replace } from "./dom.js";
import { age, bytes, count, date, number } from "./format.js";
import { isStartable } from "./flow-schemas.js";
import { openFlowDialog, openStartDialog } from "./start-dialog.js";
import { ALL, badge } from "./status.js";
import { VirtualList } from "./virtual-list.js";

const PAGE = 500;
const REFRESH_MS = 5000;

/** @param {import("./main.js").ViewContext} context */
export async function showThreads({ main, query, signal, setTitle }) {
  setTitle("Threads");
  const flows = await api.flows(signal);
  const table = new ThreadTable(signal);
  const id = h("input", {
    type: "search",
    id: "filter-id",
    placeholder: "refunds:an",
    autocomplete: "off",
    spellcheck: "false",
  });
  const flow = select(
    "filter-flow",
    "All flows",
    flows.map(({ name }) => name),
    query.flow,
  );
  const status = select("filter-status", "All", ALL, query.status);
  const label = h("input", {
    type: "search",
    id: "filter-label",
    placeholder: "name:value",
    autocomplete: "off",
    spellcheck: "false",
  });
  id.value = query.prefix ?? "";
  label.value = query.label ?? "";
  const start = h("button", { type: "button", class: "primary" }, "Start a thread");
  start.addEventListener("click", () => {
    const chosen = flows.find((one) => one.name === flow.value && isStartable(one));
    void (chosen ? openStartDialog(chosen) : openFlowDialog(flows));
  });
  const apply = () => {
    const text = label.value.trim();
    const isComplete = text === "" || /^[^:]+:.+$/.test(text);
    label.toggleAttribute("data-incomplete", !isComplete);
    const filters = { prefix: id.value.trim(), flow: flow.value, status: status.value, label: isComplete ? text : "" };
    note(["threads"], filters);
    void table.load(filters);
  };
  const applySoon = afterPause(200, apply);
  id.addEventListener("input", applySoon);
  label.addEventListener("input", applySoon);
  flow.addEventListener("change", apply);
  status.addEventListener("change", apply);
  const filters = h(
    "form",
    { class: "filters", role: "search" },
    field("filter-id", "Id begins with", id),
    field("filter-flow", "Flow", flow),
    field("filter-status", "Status", status),
    field("filter-label", "Label", label),
  );
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  replace(
    main,
    h(
      "header",
      { class: "view-head" },
      h(
        "div",
        { class: "view-title" },
        h("h1", null, "Threads"),
        h("div", { class: "buttons" }, start, h("a", { class: "button", href: link(["compare"]) }, "Compare")),
      ),
    ),
    filters,
    table.summary,
    table.list.element,
    table.none,
  );
  apply();
}

/**
 * @param {string} id
 * @param {string} text
 * @param {HTMLElement} control
 */
function field(id, text, control) {
  return h("div", { class: "field" }, h("label", { for: id }, text), control);
}

/**
 * @param {string} id
 * @param {string} all
 * @param {string[]} values
 * @param {string | undefined} chosen
 */
function select(id, all, values, chosen) {
  return h(
    "select",
    { id },
    h("option", { value: "" }, all),
    values.map((value) => h("option", { value, selected: value === chosen }, value)),
  );
}

class ThreadTable {
  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
    this.filters = {};
    /** @type {Info[]} */
    this.threads = [];
    /** @type {string | null} */
    this.next = null;
    this.loading = new AbortController();
    this.isLoading = false;
    this.summary = h("p", { class: "muted list-summary", role: "status" });
    this.none = h("div", { class: "empty", hidden: true });
    /** @type {VirtualList<Info>} */
    this.list = new VirtualList({
      label: "Threads",
      className: "thread-list",
      columns: ["Thread", "Status", "Labels", "Checkpoints", "Size", "Updated"],
      key: (info) =>
        `${info.id} ${info.status} ${info.updated_ms} ${info.checkpoints} ${info.damage} ${age(info.updated_ms)} ${JSON.stringify(info.labels)}`,
      cells: row,
      onEnd: () => void this.more(),
    });
    const timer = setInterval(() => void this.refresh(), REFRESH_MS);
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      this.loading.abort();
      this.list.close();
    });
  }

  /** @param {{[name: string]: string}} filters */
  async load(filters) {
    this.loading.abort();
    this.loading = new AbortController();
    this.filters = filters;
    this.threads = [];
    this.next = null;
    this.isLoading = false;
    this.list.element.scrollTop = 0;
    await this.page(null);
  }

  async more() {
    if (this.next !== null) await this.page(this.next);
  }

  /** @param {string | null} after */
  async page(after) {
    if (this.isLoading) return;
    this.isLoading = true;
    const { signal } = this.loading;
    try {
      const page = await api.threads({ ...this.filters, after, limit: PAGE }, signal);
      if (signal.aborted) return;
      this.threads.push(...page.threads);
      this.next = page.next;
      this.isLoading = false;
      this.show();
    } catch (error) {
      if (signal.aborted) return;
      this.isLoading = false;
      this.showProblem(error, after);
    }
  }

  show() {
    this.list.element.hidden = this.threads.length === 0;
    this.none.hidden = this.threads.length > 0;
    this.summary.textContent =
      this.threads.length === 0
        ? ""
        : this.next === null
          ? count(this.threads.length, "thread")
          : `The first ${number(this.threads.length)} threads. More are loaded while you scroll.`;
    const isFiltered = Object.values(this.filters).some(Boolean);
    replace(
      this.none,
      h("h2", null, "No threads"),
      h(
        "p",
        null,
        isFiltered
          ? "No thread has these properties. Change the filters."
          : "Press “Start a thread” to create the first one.",
      ),
    );
    this.list.set(this.threads, this.next !== null);
  }

  /**
   * @param {unknown} error
   * @param {string | null} after
   */
  showProblem(error, after) {
    if (after !== null) {
      toast(`The next threads could not be loaded: ${messageOf(error)} Scroll to try again.`, "error");
      return;
    }
    this.list.element.hidden = true;
    this.none.hidden = false;
    replace(
      this.none,
      h("h2", null, "The threads could not be loaded"),
      h("p", null, messageOf(error)),
      h("button", { type: "button", onclick: () => void this.page(null) }, "Try again"),
    );
  }

  /** Loads the visible rows again, so that their status is the current one. */
  async refresh() {
    if (document.hidden || this.isLoading || this.signal.aborted) return;
    const { first, end } = this.list.visible();
    const before = this.threads[first - 1];
    const limit = Math.max(50, end - first + 10);
    const { signal } = this.loading;
    const known = this.threads;
    try {
      const page = await api.threads({ ...this.filters, after: before?.id ?? null, limit }, signal);
      // Another page was loaded meanwhile, and has moved nothing: the rows are in the order of the ids.
      if (signal.aborted || known !== this.threads) return;
      const position = new Map(this.threads.map(({ id }, index) => [id, index]));
      const isKnown = page.threads.findLastIndex(({ id }) => position.has(id));
      const lastKnown = page.threads[isKnown];
      if (page.next !== null && lastKnown) {
        // The rows after the last known one are not changed.
        const until = (position.get(lastKnown.id) ?? 0) + 1;
        this.threads.splice(first, until - first, ...page.threads.slice(0, isKnown + 1));
      } else {
        this.threads.splice(first, this.threads.length - first, ...page.threads);
        this.next = page.next;
      }
      this.show();
    } catch {
      // The next refresh tries again.
    }
  }
}

/** @param {Info} info */
function row(info) {
  const labels = Object.entries(info.labels).map(([name, value]) => h("span", { class: "chip" }, `${name}: ${value}`));
  return [
    h("a", { href: link(["thread", info.id]), "data-row-focus": true, class: "row-link" }, info.id),
    [
      badge(info.status),
      info.damage ? h("span", { class: "chip danger-chip", title: info.damage }, "damaged") : null,
      info.due_ms ? h("span", { class: "chip", title: date(info.due_ms) }, `due ${age(info.due_ms)}`) : null,
    ],
    labels,
    number(info.checkpoints),
    bytes(info.bytes),
    h(
      "time",
      { datetime: new Date(info.updated_ms).toISOString(), title: date(info.updated_ms) },
      age(info.updated_ms),
    ),
  ];
}
