//! Letters and digits.

use super::canvas::Canvas;

/// The digits, in rows of five pixels, of which the highest bit is the first.
const DIGITS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110],
    [0b00011, 0b00101, 0b01001, 0b10001, 0b11111, 0b00001, 0b00001],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b10001, 0b00001, 0b00010, 0b00100, 0b00100, 0b00100],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

/// The letters from A to Z, in five rows of three pixels, each an octal digit.
const LETTERS: [u16; 26] = [
    0o25755, 0o65656, 0o34443, 0o65556, 0o74647, 0o74644, 0o34553, 0o55755, 0o72227, 0o11152, 0o55655,
    0o44447, 0o57755, 0o65555, 0o25552, 0o65644, 0o25573, 0o65655, 0o34216, 0o72222, 0o55557, 0o55552,
    0o55775, 0o55255, 0o55222, 0o71247,
];

/// Whether a pixel of a small letter is set. Other characters are clear.
pub(super) fn is_letter_at(letter: u8, column: usize, row: usize) -> bool {
    let place = usize::from(letter.to_ascii_uppercase().wrapping_sub(b'A'));
    LETTERS.get(place).is_some_and(|rows| rows >> (3 * (4 - row) + 2 - column) & 1 == 1)
}

/// Writes a number so that it ends before a place, with a shadow.
pub(super) fn paint_count(canvas: &mut Canvas, count: u8, [right, y]: [i32; 2]) {
    let text = count.to_string();
    let left = right - text.len() as i32 * 6;
    for (shift, colour) in [(1, [62, 62, 62, 255]), (0, [255, 255, 255, 255])] {
        for (place, digit) in text.bytes().enumerate() {
            for (row, bits) in DIGITS[usize::from(digit - b'0')].iter().enumerate() {
                for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                    let x = left + place as i32 * 6 + column + shift;
                    canvas.dot(x, y + row as i32 + shift, colour);
                }
            }
        }
    }
}

/// Writes small letters.
pub(super) fn paint_text(canvas: &mut Canvas, text: &str, [x, y]: [i32; 2], colour: [u8; 4]) {
    for (place, letter) in text.bytes().enumerate() {
        for row in 0..5 {
            for column in (0..3).filter(|column| is_letter_at(letter, *column, row)) {
                canvas.dot(x + (place * 4 + column) as i32, y + row as i32, colour);
            }
        }
    }
}
