import sys, time
from petalflow_client import AuthenticatedClient, Client
from petalflow_client.api.flows import list_flows, start_thread
from petalflow_client.api.health import get_health
from petalflow_client.api.threads import answer_question, get_thread
from petalflow_client.models import Error, QuestionAnswer, Start, ViewStatus

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], prefix="", auth_header_name="X-Token")
print(get_health.sync(client=Client(base_url=sys.argv[1])).status)
flows = list_flows.sync(client=client).flows
print(*sorted(flow.name for flow in flows))
thread = start_thread.sync(flow="refunds", client=client, body=Start(input_={"cents": 7})).thread


def settled():
    for _ in range(600):
        view = get_thread.sync(thread=thread, client=client)
        if view.status != ViewStatus.RUNNING:
            return view
        time.sleep(0.05)
    raise SystemExit("the thread still runs")


view = settled()
wait = view.waits[0]
print(view.status.value, wait.kind.value, wait.name)
answer = QuestionAnswer(answer={"pays": True})
answer_question.sync(thread=thread, question=wait.id, client=client, body=answer)
print(settled().status.value)
refused = get_thread.sync(thread="refunds:none", client=client)
assert isinstance(refused, Error)
print("refused:", refused.error)
