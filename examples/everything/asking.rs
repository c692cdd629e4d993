//! Requests of a running call to its client: elicitation, sampling and roots. The code is the same whether the client answers while the
//! call waits, or calls again with the answer.

use mcp_runtime::prelude::*;

/// Asks the client's model.
#[tool(asks(sampling))]
async fn test_sampling(
    ctx: &Context,
    /// Question for the model
    prompt: &str,
) -> Result<String> {
    let answer = ctx.sample("answer", Sampling::ask(prompt, 100)).await?;
    Ok(format!("LLM response: {}", answer.text()))
}

#[form]
struct Account {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// Asks the user.
#[tool(asks(elicitation))]
async fn test_elicitation(
    ctx: &Context,
    /// Question for the user
    message: &str,
) -> Result<String> {
    let account: Account = ctx.elicit("account", message).await?;
    Ok(format!("User response: {} <{}>", account.username, account.email))
}

#[form]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

/// Every type of field with a default.
#[form]
#[derive(Debug)]
struct Defaults {
    #[arg(default = "John Doe")]
    name: String,
    #[arg(default = 30)]
    age: i64,
    #[arg(default = 95.5)]
    score: f64,
    #[arg(default = Status::Active)]
    status: Status,
    #[arg(default = true)]
    verified: bool,
}

/// Asks with a default for each field.
#[tool(asks(elicitation))]
async fn test_elicitation_sep1034_defaults(ctx: &Context) -> Result<String> {
    let filled: Defaults = ctx.elicit("defaults", "Please review these values.").await?;
    Ok(format!("Elicitation completed: action=accept, content={filled:?}"))
}

#[form]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Untitled {
    Option1,
    Option2,
    Option3,
}

#[form]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Titled {
    /// First Option
    Value1,
    /// Second Option
    Value2,
    /// Third Option
    Value3,
}

#[form(enum_names)]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Legacy {
    /// Option One
    Opt1,
    /// Option Two
    Opt2,
    /// Option Three
    Opt3,
}

#[form]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Choices {
    /// First Choice
    Value1,
    /// Second Choice
    Value2,
    /// Third Choice
    Value3,
}

/// Every way to choose.
#[form]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
struct Enums {
    untitled_single: Untitled,
    titled_single: Titled,
    legacy_enum: Legacy,
    untitled_multi: Vec<Untitled>,
    titled_multi: Vec<Choices>,
}

/// Asks for choices of every kind.
#[tool(asks(elicitation))]
async fn test_elicitation_sep1330_enums(ctx: &Context) -> Result<String> {
    let chosen: Enums = ctx.elicit("choices", "Please choose.").await?;
    Ok(format!("Elicitation completed: action=accept, content={chosen:?}"))
}

/// Answers as a stream could: it asks first.
#[tool(asks(elicitation))]
async fn test_streaming_elicitation(ctx: &Context) -> Result<String> {
    let name: Name = ctx.elicit("user_name", "What is your name?").await?;
    Ok(format!("Hello, {}!", name.name))
}

#[form]
struct Name {
    name: String,
}

/// Asks for a name.
#[tool(asks(elicitation))]
async fn test_input_required_result_elicitation(ctx: &Context) -> Result<String> {
    let name: Name = ctx.elicit("user_name", "What is your name?").await?;
    Ok(format!("Hello, {}!", name.name))
}

/// Asks the client's model for a capital.
#[tool(asks(sampling))]
async fn test_input_required_result_sampling(ctx: &Context) -> Result<String> {
    let question = Sampling::ask("What is the capital of France?", 100);
    Ok(ctx.sample("capital_question", question).await?.text())
}

/// Asks where the user works.
#[tool(asks(roots))]
async fn test_input_required_result_list_roots(ctx: &Context) -> Result<String> {
    let roots: Vec<String> = ctx.roots().await?.into_iter().map(|root| root.uri).collect();
    Ok(format!("The client works in: {}", roots.join(", ")))
}

#[form]
struct Confirmation {
    ok: bool,
}

/// Asks, and finds its state again.
#[tool(asks(elicitation))]
async fn test_input_required_result_request_state(ctx: &Context) -> Result<String> {
    confirmed(ctx).await
}

/// Asks, and refuses state that was changed.
#[tool(asks(elicitation))]
async fn test_input_required_result_tampered_state(ctx: &Context) -> Result<String> {
    confirmed(ctx).await
}

/// A step that runs once, however many rounds the call has.
async fn begin() -> Result<String> {
    Ok("state-ok".to_owned())
}

async fn confirmed(ctx: &Context) -> Result<String> {
    let begun = ctx.once("begun", begin).await?;
    let confirmation: Confirmation = ctx.elicit("confirm", "Go on?").await?;
    Ok(format!("{begun}, {}", if confirmation.ok { "confirmed" } else { "not confirmed" }))
}

/// Asks the user, the model and the client in one round.
#[tool(asks(elicitation, sampling, roots))]
async fn test_input_required_result_multiple_inputs(ctx: &Context) -> Result<String> {
    let name = ctx.elicit::<Name>("user_name", "What is your name?");
    let greeting = ctx.sample("greeting", Sampling::ask("Write a greeting", 50));
    let (name, greeting, roots) = ctx.ask_all((name, greeting, ctx.roots())).await;
    Ok(format!("{} {}, {} roots", greeting?.text(), name?.name, roots?.len()))
}

#[form]
struct Color {
    color: String,
}

/// Asks twice, the second time knowing the first answer.
#[tool(asks(elicitation))]
async fn test_input_required_result_multi_round(ctx: &Context) -> Result<String> {
    let name: Name = ctx.elicit("step1", "Step 1: What is your name?").await?;
    let color: Color = ctx.elicit("step2", "Step 2: What is your favorite color?").await?;
    Ok(format!("{} likes {}.", name.name, color.color))
}

/// Asks the user or the model, as far as the client can.
#[tool]
async fn test_input_required_result_capabilities(ctx: &Context) -> Result<String> {
    if ctx.client().can_elicit() {
        let name: Name = ctx.elicit("user_name", "What is your name?").await?;
        return Ok(format!("The user is {}.", name.name));
    }
    let answer = ctx.sample("user_name", Sampling::ask("Invent a name", 20)).await?;
    Ok(format!("The model says {}.", answer.text()))
}

#[form]
struct Background {
    context: String,
}

/// Asks what it should be about.
#[prompt(asks(elicitation))]
async fn test_input_required_result_prompt(ctx: &Context) -> Result<String> {
    let given: Background =
        ctx.elicit("user_context", "What context should the prompt use?").await?;
    Ok(format!("Keep this in mind: {}", given.context))
}
