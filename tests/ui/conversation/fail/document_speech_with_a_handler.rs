// `tts_say` is built in.
petalflow_conversation::conversation! { Broken("document_speech_with_a_handler.json") }

fn main() {
    let _ = Broken;
}
