fn order() -> String {
    String::new()
}

fn main() {}
