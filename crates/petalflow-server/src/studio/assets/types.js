// @ts-check
/**
 * The data that the server sends, as types for the other modules.
 *
 * @typedef {null | boolean | number | string | unknown[] | {[key: string]: unknown}} Json
 *
 * @typedef {{[key: string]: any}} Schema A JSON Schema.
 *
 * @typedef {"running" | "waiting" | "sleeping" | "stopped" | "held" | "failed" | "finished"} Status
 *
 * @typedef {object} Edge
 * @property {string} from
 * @property {string} to
 * @property {string | null} label
 *
 * @typedef {object} Graph
 * @property {{id: string, kind: string}[]} nodes
 * @property {Edge[]} edges
 *
 * @typedef {object} Flow
 * @property {string} name
 * @property {"flow" | "agent" | "conversation" | "document" | "stored"} kind
 * @property {Graph} graph
 * @property {Schema | null} input
 * @property {{[key: string]: any} | null} state One schema of the state, or one for each key.
 * @property {{[name: string]: Schema | null}} questions
 * @property {{[name: string]: string}} [attributes] The types of its search attributes.
 * @property {string[]} [webhooks] The addresses of the webhooks that start its threads. Nothing else starts them.
 * @property {{[status: string]: number}} [threads] How many threads have each status, if the server counts them.
 *
 * @typedef {object} Info
 * @property {string} id
 * @property {string} flow
 * @property {Status} status
 * @property {number} created_ms
 * @property {number} updated_ms
 * @property {number} checkpoints
 * @property {number} bytes
 * @property {number | null} due_ms
 * @property {{[name: string]: string}} labels
 * @property {{[name: string]: boolean | number | string | null}} [attributes] Of keys that are indexed.
 * @property {string | null} damage
 * @property {Trouble} [trouble]
 *
 * @typedef {object} Trouble Why a thread of an engine does not go on that is running.
 * @property {"retrying" | "paused"} state
 * @property {string} service What is away or fails.
 * @property {number} attempts 0 if that is not known.
 * @property {string} error
 * @property {number | null} next_ms When it is tried again.
 *
 * @typedef {object} Question
 * @property {string} id
 * @property {string} node
 * @property {string} namespace
 * @property {number | null} index
 * @property {"ask" | "before" | "after"} kind
 * @property {string} [name]
 * @property {unknown} [question]
 * @property {string} text
 * @property {number} asked_ms
 * @property {number | null} expires_ms
 *
 * @typedef {object} Wait
 * @property {string} id
 * @property {"question" | "approval" | "confirmation" | "credential" | "result"} kind
 * @property {string} text
 * @property {string | null} name
 * @property {unknown} arguments
 * @property {string | null} node
 * @property {number} asked_ms
 * @property {number | null} expires_ms
 * @property {Schema | null} schema Of the body of the answer.
 *
 * @typedef {Wait & {thread: string, flow: string, labels: {[name: string]: string}, answerable: boolean}} InboxItem
 *
 * @typedef {object} View
 * @property {string} thread
 * @property {string} flow
 * @property {Status} status
 * @property {number} checkpoint
 * @property {number | null} parent
 * @property {string} cause
 * @property {number} turn
 * @property {number} superstep
 * @property {string[]} next
 * @property {number} created_ms
 * @property {number} [checkpoint_ms] When the checkpoint was stored. `created_ms` is that of the thread then.
 * @property {number} updated_ms
 * @property {{[name: string]: string}} labels
 * @property {{[key: string]: unknown}} state
 * @property {{node: string, index: number | null, finished: boolean, error: unknown, receives: {key: string, since_ms: number, until_ms: number | null}[]}[]} tasks
 * @property {Question[]} questions
 * @property {{node: string, error: unknown}[]} errors
 * @property {Trouble | null} [trouble] Of a thread of an engine that is running.
 *
 * @typedef {object} Checkpoint
 * @property {number} checkpoint
 * @property {number | null} parent
 * @property {string} cause
 * @property {number} turn
 * @property {number} superstep
 * @property {string[]} next
 * @property {{node: string, decision: string, by: string | null, reason: string | null, at_ms: number}[]} notes
 * @property {number} created_ms
 * @property {number} bytes
 *
 * @typedef {object} Schedule
 * @property {string} name
 * @property {string} flow
 * @property {string} cron
 * @property {string} text The cron line in words.
 * @property {string} zone
 * @property {string} missed
 * @property {"program" | "client"} source Who has created it.
 * @property {unknown} input
 * @property {boolean} paused
 * @property {string[]} next
 * @property {string} [clock_ahead] What a process with a wrong clock has stored.
 *
 * @typedef {object} RunEvent
 * @property {string} kind
 * @property {string} namespace
 * @property {number} superstep
 * @property {{node: string, id: string, index: number | null, attempt: number} | null} task
 * @property {string[]} [nodes]
 * @property {string[]} [keys]
 * @property {boolean} [cached]
 * @property {unknown} [error]
 * @property {number} [wait_ms]
 * @property {unknown} [value]
 * @property {number} [checkpoint]
 * @property {string} [event]
 * @property {Question[]} [interrupts]
 * @property {number} [recorded_ms]
 */

export {};
