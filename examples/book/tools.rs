//! The tools, the resource and the prompt of the server.

use mcp_runtime::{elicitation::Unanswered, prelude::*};

use crate::{
    forms::{Few, Group, Offer, Sitting, Visit},
    restaurant::{Booking, FEW, Guest, Restaurant},
};

/// Books a table: asks the user when, and then what depends on that.
#[tool(destructive = false, open_world = false, asks(elicitation))]
async fn book_table(ctx: &Context, restaurant: &Restaurant) -> Result<String> {
    let mut question = "When would you like to come?".to_owned();
    for attempt in 1..=3 {
        let visit: Visit = match ctx.elicit(format!("visit-{attempt}"), question).await {
            Ok(visit) => visit,
            Err(why) => return unbooked(why),
        };
        // The function runs again from the top when the user answers the next form, so the table is held inside `once`, which does its work
        // only the first time. The result "no table" is stored like a success. Otherwise a table that becomes free in the meantime would be
        // booked for a user who has named another evening.
        let hold = async || Ok::<_, Error>(restaurant.hold(&visit));
        match ctx.once(format!("hold-{attempt}"), hold).await? {
            Ok(held) => return settle(ctx, restaurant, held).await,
            Err(why) => question = format!("{why} When else?"),
        }
    }
    Ok("Nothing is booked. `wait_for_table` waits until somebody cancels.".to_owned())
}

/// Asks the user for the remaining details, then confirms the held table.
async fn settle(ctx: &Context, restaurant: &Restaurant, held: Booking) -> Result<String> {
    let question = format!("We keep a table for you on {}. What else should we know?", held.visit);
    let answer = if held.visit.guests > FEW {
        ctx.elicit("group", question).await.map(|Group { name, email, allergies }| {
            (None, Guest { name, email: Some(email), allergies })
        })
    } else {
        ctx.elicit("few", question).await.map(|Few { name, area, allergies }| {
            (Some(area), Guest { name, email: None, allergies })
        })
    };
    let (area, guest) = match answer {
        Ok(details) => details,
        Err(why) => {
            restaurant.release(&held.id);
            return unbooked(why);
        }
    };
    let booking = restaurant.confirm(&held.id, guest, area)?;
    if let Some(page) = restaurant.page_of(&held.id).filter(|_| booking.is_due()) {
        // The answer is ignored: a user who does not go to the page keeps the table and can pay later.
        let _ = ctx.elicit_url("deposit", "Pay the deposit for your table", page).await;
    }
    // The booking is read again, because the user may have paid by now. Agreeing to open the page does not mean that the deposit is paid.
    restaurant.booking(&held.id).map(|booking| booked(&booking)).ok_or_else(|| unknown(&held.id))
}

/// Waits until there is a table, and asks the user whether to take it.
#[tool(task(ttl = "12h", poll = "2s"), destructive = false, open_world = false, asks(elicitation))]
async fn wait_for_table(
    ctx: &Context,
    restaurant: &Restaurant,
    /// As `YYYY-MM-DD`
    #[arg(pattern = r"^\d{4}-\d{2}-\d{2}$", example = "2030-12-31")]
    day: String,
    time: Sitting,
    /// How many come
    #[arg(range(1..=8))]
    guests: u8,
    /// Name of the guest
    #[arg(len(1..=80))]
    name: String,
) -> Result<String> {
    let visit = Visit { day, time, guests };
    let guest = Guest { name, email: None, allergies: None };
    let mut turn = 0;
    loop {
        turn += 1;
        let wait = async || {
            if let Ok(held) = restaurant.hold(&visit) {
                return Ok(held);
            }
            // In a task, progress becomes the status message.
            ctx.progress().say(turn, format!("waiting for a table on {visit}"));
            restaurant.wait(&visit).await
        };
        let held = ctx.once(format!("hold-{turn}"), wait).await?;
        let question = format!("There is a table on {visit} now. Take it?");
        let offer = ctx.elicit(format!("take-{turn}"), question).await;
        if let Ok(Offer { take: true }) = offer {
            match restaurant.confirm(&held.id, guest.clone(), None) {
                Ok(booking) => return Ok(booked(&booking)),
                // The answer came too late, and the hold has expired. The form about the next table has a key of its own.
                Err(_) => continue,
            }
        }
        restaurant.release(&held.id);
        return unbooked(offer.err().unwrap_or(Unanswered::Declined));
    }
}

/// Sends the user to a page to pay the deposit of a booking, and says whether it is paid.
#[tool(destructive = false, open_world = false)]
async fn pay_deposit(
    ctx: &Context,
    restaurant: &Restaurant,
    /// Its id
    booking: &str,
) -> Result<String> {
    let found = restaurant.booking(booking).ok_or_else(|| unknown(booking))?;
    let Some(page) = restaurant.page_of(booking).filter(|_| found.is_due()) else {
        return Ok(booked(&found));
    };
    if !ctx.client().can("elicitation.url") {
        return Ok(format!(
            "Not paid yet: ask the user to pay at {page} and to tell you when it is done."
        ));
    }
    match ctx.require_url("deposit", "Pay the deposit for your table", page).await {
        Unanswered::Declined | Unanswered::Cancelled => {
            Ok("The user has not paid; the table is still theirs.".to_owned())
        }
        // The error for a page that is not finished tells the client to send the user to the payment page before it calls again.
        other => Err(other.into()),
    }
}

/// Cancels a booking. The next guest on the waiting list is asked.
#[tool(idempotent, open_world = false)]
fn cancel_booking(
    restaurant: &Restaurant,
    /// Its id
    booking: &str,
) -> Result<&'static str> {
    if restaurant.release(booking) {
        Ok("The booking is cancelled.")
    } else {
        Err(unknown(booking))
    }
}

/// A booking, for callers that know its id.
#[resource("booking://{id}", mime_type = "application/json", subscribe)]
fn booking(restaurant: &Restaurant, id: &str) -> Option<Json<Booking>> {
    restaurant.booking(id).map(Json)
}

/// Plans an evening with us.
#[prompt]
fn plan_evening(
    #[complete("a birthday", "a first date", "business")] occasion: &str,
    time: Option<Sitting>,
) -> String {
    let when = match time {
        Some(Sitting::Early) => "early",
        Some(Sitting::Late) => "late",
        None => "whenever there is a table",
    };
    format!("Plan {occasion} around a dinner, {when}. Book the table, or wait for one.")
}

fn booked(booking: &Booking) -> String {
    let Booking { id, visit, table, deposit, .. } = booking;
    let deposit = match () {
        () if booking.is_due() => format!(" A deposit of {deposit} € is due: `pay_deposit`."),
        () if booking.paid => format!(" The deposit of {deposit} € is paid."),
        () => String::new(),
    };
    format!("Booked: {table:?}, {visit}, as booking://{id}.{deposit}")
}

/// Turns a refusal by the user into an answer for the model instead of a failure.
fn unbooked(why: Unanswered) -> Result<String> {
    match why {
        Unanswered::Declined => Ok("Nothing is booked: the user does not want to.".to_owned()),
        Unanswered::Cancelled => Ok("Nothing is booked: the user has not answered.".to_owned()),
        other => Err(other.into()),
    }
}

fn unknown(booking: &str) -> Error {
    Error::msg(format_args!("there is no booking `{booking}`: give the id after `booking://`"))
}
