//! What is embedded is embedded anew when it changes, without a change to any Rust file.
fn main() {
    for folder in ["builds", "migrations", "static"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
