//! Books tables: `cargo run -p example-book`, and with `-- --http 127.0.0.1:8000` over HTTP.
//!
//! This example shows how a server asks the user. `book_table` asks with two forms, and the second form depends on the first.
//! `wait_for_table` continues as a task if the client supports tasks, and asks when a table is free. `pay_deposit` sends the user to a
//! page, which this program serves too. To see a table become free, cancel the booking that has it.

use std::{
    env,
    process::{ExitCode, Termination},
};

use mcp_runtime::{Builder, prelude::*};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};

use crate::restaurant::Restaurant;

mod forms;
mod pages;
mod restaurant;
#[cfg(test)]
mod tests;
mod tools;

fn server() -> Builder {
    server!(
        title = "Table booking",
        instructions = "Books tables in one small restaurant. Every caller that knows the id of a booking may read and cancel it."
    )
}

/// Runs the command line of the server. The payment pages have a listener of their own, on the loopback interface.
fn run() -> impl Termination {
    let server = server().setup(async |server: Handle| {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let restaurant = Restaurant::new(server, format!("http://{}", listener.local_addr()?));
        let pages = pages::router(restaurant.clone());
        tokio::spawn(async { axum::serve(listener, pages).await });
        Ok::<_, Error>(restaurant)
    });
    server.run()
}

/// Serves an axum application that has the MCP server at `/mcp` and the payment pages beside it.
async fn serve(address: &str) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let (made, restaurant) = oneshot::channel();
    let mcp = server().setup(async move |server: Handle| {
        let restaurant = Restaurant::new(server, format!("http://{address}"));
        let _ = made.send(restaurant.clone());
        Ok::<_, Error>(restaurant)
    });
    let mcp = mcp.into_router().await?;
    let application = mcp.merge(pages::router(restaurant.await?));
    eprintln!("book: an MCP server at http://{address}/mcp");
    Ok(axum::serve(listener, application).await?)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let address = match &arguments[..] {
        [option, address] if option == "--http" => address,
        _ => return run().report(),
    };
    match Runtime::new().map_err(Error::from).and_then(|runtime| runtime.block_on(serve(address))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
