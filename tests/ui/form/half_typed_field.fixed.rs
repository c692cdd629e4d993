use mcp_runtime::prelude::*;

#[form]
struct Booking {
    #[arg(default = 2)]
    people: u8,
    na: String,
}

/// Books a table.
#[tool(asks(elicitation))]
async fn book(ctx: &Context) -> Result<String> {
    let booking: Booking = ctx.elicit("booking", "Who comes?").await?;
    Ok(booking.people.to_string())
}

fn main() {}
