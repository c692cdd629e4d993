fn cities(typed: &str, country: Option<String>, db: State<Db>) -> Vec<String> {}
