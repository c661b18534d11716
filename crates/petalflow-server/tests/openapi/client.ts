import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };
type ThreadEvent = components["schemas"]["ThreadEvent"];

const url = process.argv[2] ?? "";
const headers = { "X-Token": process.argv[3] ?? "" };
const client = createClient<paths>({ baseUrl: url, headers });

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is missing");
  return value;
}

async function settled(thread: string) {
  for (let tries = 0; tries < 600; tries += 1) {
    const { data } = await client.GET("/threads/{thread}", { params: { path: { thread } } });
    if (found(data).status !== "running") return found(data);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the thread still runs");
}

/** What a person reads of an event: the compiler knows the fields of each kind. */
function words(event: ThreadEvent): string | undefined {
  switch (event.kind) {
    case "custom":
      return event.value === "I look at it" ? event.kind : undefined;
    case "node_finished":
      return event.keys.length > 0 && !event.cached ? event.kind : undefined;
    default:
      return undefined;
  }
}

async function main() {
  console.log(found((await client.GET("/health")).data).status);
  const body = { input: { cents: 7 } };
  const begun = await client.POST("/flows/{flow}/threads", { params: { path: { flow: "refunds" } }, body });
  const thread = found(begun.data).thread;
  const view = await settled(thread);
  const wait = found(view.waits[0]);
  console.log(view.status, wait.kind, wait.name);
  await client.POST("/threads/{thread}/answers/{question}", {
    params: { path: { thread, question: wait.id } },
    body: { answer: { pays: true } },
  });
  console.log((await settled(thread)).status);
  const events = await fetch(`${url}/threads/${thread}/events`, { headers });
  const lines = (await events.text()).split("\n").filter((line) => line.startsWith("data: "));
  const told = lines.map((line) => words(JSON.parse(line.slice(6)) as ThreadEvent));
  console.log("events:", [...new Set(told.filter((word) => word !== undefined))].join(" "));
  const { error } = await client.GET("/threads/{thread}", { params: { path: { thread: "refunds:none" } } });
  console.log("refused:", found(error).error);
}

await main();
