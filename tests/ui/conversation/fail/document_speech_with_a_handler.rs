// `tts_say` is built in.
petalflow_conversations::conversation! { Broken("document_speech_with_a_handler.json") }

fn main() {
    let _ = Broken;
}
