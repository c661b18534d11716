//! The methods of the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse,
    DeleteSessionRequest, DeleteSessionResponse, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, LoadSessionRequest, LoadSessionResponse,
    McpCapabilities, NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest,
    PromptResponse, ResumeSessionRequest, ResumeSessionResponse, SessionCapabilities,
    SessionCloseCapabilities, SessionDeleteCapabilities, SessionId, SessionInfoUpdate,
    SessionListCapabilities, SessionResumeCapabilities, SessionUpdate,
};
use agent_client_protocol::{
    Agent, Client as ClientRole, ConnectTo, Error, on_receive_notification, on_receive_request,
};
use petalflow_llm::ChatMessage;

use crate::client::{self, Client};
use crate::error::of_thread;
use crate::prompt;
use crate::session::Running;
use crate::sessions::Sessions;
use crate::setup::SessionSetup;
use crate::turn::Turn;
use crate::updates::Updates;

type Connection = ConnectionTo<ClientRole>;

/// What the editor has said about itself.
#[derive(Default)]
struct Editor {
    has_forms: AtomicBool,
}

/// Serves one connection until it ends.
pub(crate) async fn serve(
    sessions: Arc<Sessions>,
    pipes: impl ConnectTo<Agent> + 'static,
) -> Result<(), Error> {
    let editor = Arc::new(Editor::default());
    let agent = Agent.v1().name(&sessions.settings().name);
    let (of_new, of_load, of_resume) = (sessions.clone(), sessions.clone(), sessions.clone());
    let (of_list, of_close, of_delete) = (sessions.clone(), sessions.clone(), sessions.clone());
    let (of_prompt, of_cancel) = (sessions.clone(), sessions.clone());
    let (known, asked) = (Arc::clone(&editor), editor);
    agent
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                let has_forms = client::has_forms(&request.client_capabilities);
                known.has_forms.store(has_forms, Ordering::Relaxed);
                responder.respond(initialize(&sessions))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _| {
                let setup = SessionSetup::of(request.cwd, request.mcp_servers);
                responder.respond(NewSessionResponse::new(of_new.create(&setup)?))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection: Connection| {
                let id = request.session_id.clone();
                let setup = SessionSetup::of(request.cwd, request.mcp_servers);
                load(&of_load, &id, setup, Some(&connection)).await?;
                responder.respond(LoadSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, _| {
                let id = request.session_id.clone();
                let setup = SessionSetup::of(request.cwd, request.mcp_servers);
                load(&of_resume, &id, setup, None).await?;
                responder.respond(ResumeSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| {
                responder.respond(of_list.list(&request).await?)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                of_close.close(&request.session_id);
                responder.respond(CloseSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: DeleteSessionRequest, responder, _| {
                of_delete.delete(&request.session_id).await?;
                responder.respond(DeleteSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: Connection| {
                let images = of_prompt.settings().images;
                let session = of_prompt.get(&request.session_id)?;
                let message = prompt::message(request.prompt, images)?;
                // Before the next message is read, which may cancel it.
                let running = session.begin()?;
                let client = Client {
                    connection: connection.clone(),
                    session: request.session_id,
                    has_forms: asked.has_forms.load(Ordering::Relaxed),
                };
                let sessions = of_prompt.clone();
                // Beside the loop that reads messages: a turn waits for answers of the editor.
                connection.spawn(async move {
                    let ended = work(&sessions, running, &client, message).await;
                    responder.respond_with_result(ended)
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _| {
                if let Ok(session) = of_cancel.get(&cancel.session_id) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(pipes)
        .await
}

/// What this agent can do.
fn initialize(sessions: &Sessions) -> InitializeResponse {
    let settings = sessions.settings();
    let prompts = PromptCapabilities::new()
        .image(settings.images)
        .embedded_context(true);
    let list = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new())
        .delete(SessionDeleteCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .mcp_capabilities(McpCapabilities::new().http(cfg!(feature = "mcp")))
        .prompt_capabilities(prompts)
        .session_capabilities(list);
    let program = Implementation::new(settings.name.as_str(), settings.version.as_str());
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(program)
}

/// Opens a session. With a connection, the editor gets all of the conversation before the answer.
async fn load(
    sessions: &Sessions,
    id: &SessionId,
    setup: SessionSetup,
    shows: Option<&Connection>,
) -> Result<(), Error> {
    let session = sessions.load(id, setup).await?;
    let Some(connection) = shows else {
        return Ok(());
    };
    let thread = session.threads.thread(&id.0);
    let snapshot = thread.snapshot().await.map_err(of_thread)?;
    let Some(snapshot) = snapshot else {
        return Ok(());
    };
    let client = Client {
        connection: connection.clone(),
        session: id.clone(),
        has_forms: false,
    };
    let runs = sessions.called(id).await?;
    for update in Updates::new(session.folder_of_files()).replay(&snapshot.state, runs) {
        client.update(update)?;
    }
    Ok(())
}

/// Works on a prompt to the end of its turn.
async fn work(
    sessions: &Sessions,
    running: Running,
    client: &Client,
    message: ChatMessage,
) -> Result<PromptResponse, Error> {
    let titled = sessions.label(&running.session, &message.text()).await?;
    if let Some(title) = titled {
        let info = SessionInfoUpdate::new().title(title);
        client.update(SessionUpdate::SessionInfoUpdate(info))?;
    }
    let turn = Turn::new(running, client, &sessions.settings().questions);
    Ok(PromptResponse::new(turn.run(message).await?))
}
