const { HttpAgent } = require("@ag-ui/client");
const { randomUUID } = require("node:crypto");

const [url, token] = process.argv.slice(1);
const headers = { Authorization: `Bearer ${token}` };

function agent(threadId = randomUUID(), extra = {}) {
    return new HttpAgent({ url: `${url}/ag-ui/guide`, headers, threadId, ...extra });
}

function user(content) {
    return { id: randomUUID(), role: "user", content };
}

/** Runs the agent. Returns the text of the run, and its last event. */
async function run(agent, parameters = {}) {
    let text = "";
    let end = null;
    await agent.runAgent(parameters, {
        onTextMessageContentEvent: ({ event }) => void (text += event.delta),
        onRunFinishedEvent: ({ event }) => void (end = event),
        onRunErrorEvent: ({ event }) => void (end = event),
    });
    return { text, end };
}

async function main() {
    const guide = agent();
    guide.addMessage(user("hello"));
    console.log("streamed:", (await run(guide)).text);

    guide.addMessage(user("look"));
    console.log("called:", (await run(guide)).text);

    guide.addMessage(user("wipe"));
    const asked = (await run(guide)).end.outcome.interrupts[0];
    console.log("asked:", asked.reason, asked.message);
    const resume = [{ interruptId: asked.id, status: "resolved", payload: { approve: true } }];
    console.log("confirmed:", (await run(guide, { resume })).text);

    const parameters = { type: "object", properties: { precise: { type: "boolean" } } };
    const tools = [{ name: "locate", description: "Where the person is.", parameters }];
    guide.addMessage(user("where"));
    const [toolCallId] = (await run(guide, { tools })).end.outcome.pendingToolCallIds;
    guide.addMessage({ id: randomUUID(), role: "tool", toolCallId, content: "Kyoto" });
    console.log("ran:", (await run(guide, { tools })).text);

    // The connection is cut while the tool waits. The same run is sent again from its start.
    const initialMessages = [user("wait")];
    const first = agent("cut", { initialMessages });
    const runId = randomUUID();
    const cut = run(first, { runId }).catch(() => null);
    setTimeout(() => first.abortRun(), 300);
    await cut;
    const second = agent("cut", { initialMessages });
    let heard = "";
    const ended = new Promise((resolve, reject) => {
        second
            .runAgent({ runId }, {
                onTextMessageContentEvent: ({ event }) => void (heard += event.delta),
                onRunFinishedEvent: ({ event }) => resolve(event),
                onRunErrorEvent: ({ event }) => resolve(event),
            })
            .catch(reject);
    });
    while (!heard.includes("moment.")) await new Promise((done) => setTimeout(done, 20));
    console.log("subscribed:", heard);
    const cancelled = await fetch(`${url}/threads/guide:cut/cancel`, { method: "POST", headers: { "X-Token": token } });
    if (cancelled.status !== 202) throw new Error(`cancel: ${cancelled.status}`);
    console.log("cancelled:", (await ended).outcome.type);

    const failing = agent();
    failing.addMessage(user("fail"));
    let failed = null;
    await failing
        .runAgent({}, { onRunErrorEvent: ({ event }) => void (failed = event) })
        .catch(() => null);
    console.log("failed:", failed.type);

    const stranger = new HttpAgent({ url: `${url}/ag-ui/guide`, initialMessages });
    const refused = await stranger.runAgent().catch((error) => error);
    console.log("refused:", /401/.test(String(refused.message)) ? 401 : refused);
}

main().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
});
