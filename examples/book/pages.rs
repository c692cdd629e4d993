//! Page on which the deposit is paid: a single button.
//!
//! Any visitor with the address may pay, so the page does not name the guest. Another site can make a browser send the form, but it cannot
//! read the token that the form must carry. Opening the page changes nothing.

use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::get,
};

use crate::restaurant::Restaurant;

pub(crate) fn router(restaurant: Restaurant) -> Router {
    Router::new().route("/pay/{page}", get(show).post(pay)).with_state(restaurant)
}

async fn show(State(restaurant): State<Restaurant>, Path(page): Path<String>) -> Response {
    match restaurant.bill(&page) {
        Some((booking, _)) if booking.paid => {
            html(StatusCode::OK, "Thank you, it is paid. Go back now.")
        }
        Some((booking, token)) if booking.is_due() => {
            let button =
                format!("<button name=token value={token}>Pay {} €</button>", booking.deposit);
            let form = format!("<form method=post>A table on {}: {button}</form>", booking.visit);
            html(StatusCode::OK, &form)
        }
        _ => html(StatusCode::NOT_FOUND, "There is nothing to pay here."),
    }
}

async fn pay(
    State(restaurant): State<Restaurant>,
    Path(page): Path<String>,
    form: String,
) -> Response {
    match form.strip_prefix("token=") {
        Some(token) if restaurant.pay(&page, token) => Redirect::to(&page).into_response(),
        _ => html(StatusCode::FORBIDDEN, "Nothing was paid: open the page again."),
    }
}

/// Returns an HTML page that browsers neither cache nor show inside a frame.
fn html(status: StatusCode, body: &str) -> Response {
    let policy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'";
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (status, headers, Html(format!("<!doctype html><title>Deposit</title>{body}"))).into_response()
}
