// @ts-check
/** How far a command for many threads is: the state of the thread that gives it. */

import * as api from "./api.js";
import { messageOf, toast } from "./announce.js";
import { progressText } from "./bulk-dialog.js";
import { h, newId, replace } from "./dom.js";
import { number } from "./format.js";

const POLL_MS = 500;
/** How many threads are named for which the command has failed. */
const NAMED = 5;

/** @typedef {{matched: number, done: number, failed: number, failures: {thread: string, reason: string}[]}} Progress */

export class BulkProgress {
  /**
   * @param {AbortSignal} signal
   * @param {() => void} onChange Called when the command has changed threads.
   */
  constructor(signal, onChange) {
    this.signal = signal;
    this.onChange = onChange;
    /** The command that is shown. */
    this.shown = 0;
    const id = newId("bulk");
    this.title = h("h2", { id });
    this.bar = h("progress", { "aria-labelledby": id });
    this.text = h("p", { role: "status" });
    this.failures = h("ul", { class: "bulk-failures" });
    this.buttons = h("div", { class: "buttons" });
    this.element = h(
      "section",
      { class: "panel bulk", hidden: true, "aria-labelledby": id },
      this.title,
      this.bar,
      this.text,
      this.failures,
      this.buttons,
    );
  }

  /** @param {{thread: string, title: string, threads: number}} command */
  async follow({ thread, title, threads }) {
    this.shown += 1;
    const own = this.shown;
    const isShown = () => own === this.shown && !this.signal.aborted;
    this.element.hidden = false;
    this.title.textContent = title;
    this.bar.max = Math.max(threads, 1);
    this.bar.value = 0;
    const stop = h("button", { type: "button" }, "Stop the command");
    stop.addEventListener("click", async () => {
      try {
        await api.cancel(thread);
      } catch (error) {
        toast(messageOf(error), "error");
      }
    });
    replace(this.buttons, stop);
    let before = -1;
    while (isShown()) {
      try {
        const { status, state } = await api.thread(thread, this.signal);
        if (!isShown()) return;
        const progress = /** @type {Progress} */ (/** @type {unknown} */ (state));
        this.show(status, progress);
        const handled = progress.done + progress.failed;
        if (handled !== before) this.onChange();
        before = handled;
        if (!["running", "stopped", "sleeping"].includes(status)) break;
      } catch (error) {
        if (!isShown()) return;
        this.text.textContent = messageOf(error);
      }
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
    if (!isShown()) return;
    const close = h("button", { type: "button" }, "Close");
    close.addEventListener("click", () => {
      this.element.hidden = true;
    });
    const hadFocus = this.buttons.contains(document.activeElement);
    replace(this.buttons, close);
    if (hadFocus) close.focus();
    this.onChange();
  }

  /**
   * @param {string} status
   * @param {Progress} progress
   */
  show(status, progress) {
    const handled = progress.done + progress.failed;
    this.bar.max = Math.max(this.bar.max, progress.matched);
    this.bar.value = status === "finished" ? this.bar.max : handled;
    const ends = { finished: "The command has ended: ", held: "The command was stopped: ", failed: "The command has failed: " };
    const end = status in ends ? ends[/** @type {keyof typeof ends} */ (status)] : "";
    const text = `${end}${progressText(progress)}.`;
    // A text that is set again is read again.
    if (this.text.textContent !== text) this.text.textContent = text;
    const named = progress.failures.slice(0, NAMED);
    const more = progress.failed - named.length;
    replace(
      this.failures,
      named.map(({ thread, reason }) => h("li", null, h("code", null, thread), `: ${reason}`)),
      more > 0 ? h("li", null, `and ${number(more)} more`) : null,
    );
  }
}
