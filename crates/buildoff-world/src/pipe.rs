//! Worlds served over two streams of bytes.
//!
//! Both sides send messages: a length as u32, a kind as u8, and a body of that length. All numbers are little-endian. The
//! server begins with a hello, and then answers each message with exactly one.
//!
//! | kind | | from the client | from the server |
//! |---|---|---|---|
//! | 1 | hello | | JSON `{"protocol": 1, "engine", "scenes", "tasks", "threads", "cameraBins"}` |
//! | 2 | make | JSON `{"task", "scene", "count", "width", "height", "maxSteps", "stopWhenDone", "pictures", "record", "threads"}`, all optional | JSON with what was made |
//! | 3 | reset | JSON `{"seeds": […]}`, one for each world; null leaves a world as it is | frames |
//! | 4 | step | seven bytes for each world: an action | frames |
//! | 5 | frames | | for each world: reward f32, terminated u8, truncated u8, length of the info u32, info as JSON, RGB |
//! | 6 | save | the number of a world as u32 | the save |
//! | 7 | load | the number of a world as u32, and a save | frames of this world alone |
//! | 8 | close | nothing | nothing: the server ends, as it does when its input ends |
//! | 9 | error | | JSON `{"error"}`: in words, and nothing has changed |
//! | 10 | recording | the number of a world as u32 | the recording of its episode so far |
//! | 11 | solutions | JSON `{"task"}`, its name | for each shipped solution: seed u64, length u32, the recording |
//!
//! A task is the name of one in the hello, with or without its category, or a whole task file; without one it is free play
//! in a scene. The progress in an info has the rewards that are not given in full, each with how often it was given.
//!
//! An action is the buttons as u16, the slot of the hot bar (0 for no change, 1 to 9) as u8, and how far the look turns
//! down and to the right as i16 in hundredths of a degree. The buttons, from the lowest bit: attack, back, forward, jump,
//! left, right, sneak, sprint, use, drop, inventory, swap_hands, pick_block.
//!
//! A world whose episode has ended begins its next one with the next step, whose action does nothing.

mod message;
mod session;

use std::io::{self, BufReader, Read, Write};

pub use message::{Kind, MAX_BODY, PipeMessage};

use session::Session;

/// Serves standard input and output until the input ends. The reader of the output may leave at any time.
///
/// # Errors
/// If the streams fail.
pub fn serve_standard_streams() -> io::Result<()> {
    match serve(io::stdin().lock(), io::stdout().lock()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// Serves worlds until the input ends.
///
/// # Errors
/// If a stream fails, or after a message that is too long, whose end cannot be found.
pub fn serve(input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut session = Session::new();
    session.hello().write(&mut output)?;
    while let Some(message) = PipeMessage::read(&mut input)? {
        if message.kind == Kind::Close as u8 {
            break;
        }
        session.answer(&message).write(&mut output)?;
    }
    Ok(())
}
