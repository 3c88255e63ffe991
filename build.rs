//! Rebuilds the program when embedded files change, although no Rust file does.
fn main() {
    for folder in ["builds", "criteria", "migrations", "static"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
