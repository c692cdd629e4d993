server!(
    with = [my_tools, more],
    group = "admin",
    instructions = include_str!("x.md"),
    title = TITLE,
    name = "n",
    version = "1",
    icon("https://a", sizes("any")),
    website = "https://b",
    max_result = "16MiB",
)
