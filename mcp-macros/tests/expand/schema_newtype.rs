/// Money
#[derive(Schema)]
struct Cents<'a>(Cow<'a, str>);
