trait Greeter {
    /// Greets.
    fn greet(&self) -> String;
}

fn main() {}
