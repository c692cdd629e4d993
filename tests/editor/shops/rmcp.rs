#![allow(dead_code)]
use rmcp::handler::server::{
    router::{prompt::PromptRouter, tool::ToolRouter},
    wrapper::Parameters,
};
use rmcp::{
    ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router, schemars, tool,
    tool_handler, tool_router,
};
use std::sync::{Arc, Mutex};

/// How an order is sent.
#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
enum Delivery {
    Standard,
    NextDay,
}

// item: data
/// Person who gets an order.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[derive(Clone)]
struct Recipient {
    /// Full name
    name: String,
    /// Street, number and town
    #[serde(default)]
    address: Vec<String>,
    copies: u32,
    /// Words for a search
    tags: std::collections::BTreeMap<String, Vec<u8>>,
    agreed: bool,
}
// end

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    /// Number of the article
    #[schemars(regex(pattern = r"^[A-Z]+$"))]
    article: String,
    delivery: Delivery,
    recipient: Recipient,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Review {
    /// Author of the review
    author: String,
    length: String,
    stars: Option<u8>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Word {
    word: String,
}

#[derive(Clone)]
struct Shop {
    orders: Arc<Mutex<Vec<String>>>,
    tool_router: ToolRouter<Self>,
    prompt_router: PromptRouter<Self>,
}

#[tool_router]
impl Shop {
    /// Counts letters.
    #[tool]
    fn before(&self, Parameters(Word { word }): Parameters<Word>) -> String {
        let early = word.len();
        early.to_string()
    }

    // item: tool
    /// Orders an article.
    #[tool(title = "Order", annotations(destructive_hint = false))]
    async fn order(
        &self,
        Parameters(Order { article, delivery, recipient }): Parameters<Order>,
    ) -> String {
        let count = self.orders.lock().unwrap().len();
        let person = recipient;
        let days = match delivery {
            Delivery::Standard => 3,
            Delivery::NextDay => 1,
        };
        format!("{article} for {} in {days} days, {count} orders", person.name)
    }
    // end

    /// Counts words.
    #[tool]
    fn after(&self, Parameters(Word { word }): Parameters<Word>) -> String {
        let late = word.split(' ').count();
        late.to_string()
    }
}

#[prompt_router]
impl Shop {
    // item: prompt
    /// Writes a review.
    #[prompt(title = "Review")]
    async fn review(
        &self,
        Parameters(Review { author, length, stars }): Parameters<Review>,
    ) -> Vec<rmcp::model::PromptMessage> {
        let stars = stars.unwrap_or(3);
        let rating = "*".repeat(stars as usize);
        let request = format!("Write a {length} review as {author}: {rating}");
        vec![rmcp::model::PromptMessage::new_text(rmcp::model::Role::User, request)]
    }
    // end

    /// Counts notes.
    #[prompt]
    async fn summary(
        &self,
        Parameters(Word { word }): Parameters<Word>,
    ) -> Vec<rmcp::model::PromptMessage> {
        let near = word.len();
        vec![rmcp::model::PromptMessage::new_text(rmcp::model::Role::User, near.to_string())]
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Shop {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shop = Shop {
        orders: Arc::default(),
        tool_router: Shop::tool_router(),
        prompt_router: Shop::prompt_router(),
    };
    shop.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
