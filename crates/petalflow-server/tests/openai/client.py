"""What the official client of OpenAI does with a server of petalflow. Its arguments: the address and the key."""

import base64
import json
import sys

import openai

address, key = sys.argv[1:]
client = openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)
LOCATE = {
    "name": "locate",
    "description": "Where the person is.",
    "parameters": {"type": "object", "properties": {"precise": {"type": "boolean"}}},
}


def user(text):
    return [{"role": "user", "content": text}]


def chat(messages, **more):
    return client.chat.completions.create(model="guide", messages=messages, **more)


def models():
    assert [model.id for model in client.models.list()] == ["guide"]
    assert client.models.retrieve("guide").owned_by == "petalflow"


def answers():
    answer = chat(user("hi"))
    assert answer.choices[0].message.content == "Good morning."
    assert answer.usage.prompt_tokens_details.cached_tokens == 3
    assert chat(user("refuse")).choices[0].message.refusal == "I will not say that."


def streams():
    with client.chat.completions.stream(
        model="guide", messages=user("hi"), stream_options={"include_usage": True}
    ) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert pieces == ["", "Good ", "morning."], pieces
    assert final.choices[0].message.content == "Good morning."
    assert final.usage.total_tokens == 14


def tools_of_the_client():
    messages = user("both")
    tools = [{"type": "function", "function": LOCATE}]
    message = chat(messages, tools=tools).choices[0].message
    (call,) = message.tool_calls
    assert call.function.name == "locate"
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "Kyoto"}]
    answer = chat(messages, tools=tools).choices[0].message
    assert answer.content == "I got locate: Kyoto and look: a river.", answer.content
    with client.chat.completions.stream(model="guide", messages=user("where"), tools=tools) as stream:
        final = stream.get_final_completion()
    assert json.loads(final.choices[0].message.tool_calls[0].function.arguments) == {"precise": True}


def confirmation():
    messages = user("wipe")
    choice = chat(messages).choices[0]
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert call.function.name == "adk_request_confirmation"
    assert json.loads(call.function.arguments)["toolConfirmation"]["hint"] == "Delete all files?"
    yes = {"role": "tool", "tool_call_id": call.id, "content": json.dumps({"confirmed": True})}
    answer = chat(messages + [choice.message, yes])
    assert answer.choices[0].message.content == "I got wipe: gone."


def errors():
    try:
        chat(user("fail"))
        raise AssertionError("it has no error")
    except openai.InternalServerError as error:
        assert "the key of the model is wrong" in error.message, error.message
    try:
        for _ in chat(user("fail"), stream=True):
            pass
        raise AssertionError("it has no error")
    except openai.APIError as error:
        assert "the key of the model is wrong" in error.message, error.message
    try:
        chat(user("hi"), n=2)
        raise AssertionError("it has no error")
    except openai.BadRequestError as error:
        assert error.param == "n"
    try:
        openai.OpenAI(base_url=f"{address}/v1", api_key="wrong", max_retries=0).models.list()
        raise AssertionError("it has no error")
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key"


def responses():
    first = client.responses.create(model="guide", input="hi", metadata={"shop": "kyoto"})
    assert (first.status, first.output_text) == ("completed", "Good morning.")
    again = client.responses.retrieve(first.id)
    assert (again.output_text, again.metadata) == ("Good morning.", {"shop": "kyoto"})
    second = client.responses.create(model="guide", input="history", previous_response_id=first.id)
    assert second.output_text == "3 messages"
    assert client.responses.create(model="guide", input="long").incomplete_details.reason == "max_output_tokens"
    client.responses.delete(first.id)
    try:
        client.responses.retrieve(first.id)
        raise AssertionError("it has no error")
    except openai.NotFoundError:
        pass


def responses_stream():
    with client.responses.stream(model="guide", input="think") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    assert "response.reasoning_summary_text.delta" in kinds
    assert final.output_text == "Hello."
    assert final.usage.output_tokens_details.reasoning_tokens == 1


def responses_tools():
    tools = [{"type": "function", **LOCATE, "strict": False}]
    first = client.responses.create(model="guide", input="both", tools=tools)
    (call,) = first.output
    assert (call.type, call.name) == ("function_call", "locate")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "Kyoto"}
    second = client.responses.create(model="guide", input=[output], tools=tools, previous_response_id=first.id)
    assert second.output_text == "I got locate: Kyoto and look: a river."


def responses_approval():
    first = client.responses.create(model="guide", input="wipe")
    (request,) = first.output
    assert (request.type, request.name) == ("mcp_approval_request", "wipe")
    no = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": False, "reason": "no"}
    second = client.responses.create(model="guide", input=[no], previous_response_id=first.id)
    assert "not confirmed: no" in second.output_text, second.output_text


def responses_picture():
    text, picture = client.responses.create(model="guide", input="draw").output
    assert (text.content[0].text, picture.type) == ("Here:", "image_generation_call")
    assert base64.b64decode(picture.result).startswith(b"GIF89a")
    with client.responses.stream(model="guide", input="draw") as stream:
        final = stream.get_final_response()
    assert final.output[1].result == picture.result
    # The output of a response is input of the next request.
    items = [*user("draw"), text, picture, *user("history")]
    assert client.responses.create(model="guide", input=items).output_text == "3 messages"


def responses_cancel():
    response = client.responses.create(model="guide", input="wait", background=True)
    assert response.status == "in_progress"
    assert client.responses.cancel(response.id).status == "cancelled"
    assert client.responses.retrieve(response.id).status == "cancelled"


def responses_failure():
    response = client.responses.create(model="guide", input="fail")
    assert response.status == "failed"
    assert "the key of the model is wrong" in response.error.message


for case in [
    models,
    answers,
    streams,
    tools_of_the_client,
    confirmation,
    errors,
    responses,
    responses_stream,
    responses_tools,
    responses_approval,
    responses_picture,
    responses_cancel,
    responses_failure,
]:
    case()
    print(case.__name__)
