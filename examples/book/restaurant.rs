//! State of the restaurant: its tables, the bookings, and the calls that wait for a table.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use mcp_runtime::prelude::*;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use crate::forms::{Area, Visit};

/// Area and number of seats of each table, the smallest first.
const TABLES: [(Area, u8); 3] = [(Area::Window, 2), (Area::Garden, 4), (Area::Hall, 8)];

/// Maximum number of guests in a small party. A larger party is a group and pays a deposit.
pub(crate) const FEW: u8 = 4;

/// Time for which a table is held while the user answers.
pub(crate) const HELD: Duration = Duration::from_secs(15 * 60);

/// Guest, with the wishes that the kitchen should know.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) name: String,
    pub(crate) email: Option<String>,
    pub(crate) allergies: Option<String>,
}

/// A table for an evening.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Booking {
    pub(crate) id: String,
    pub(crate) visit: Visit,
    pub(crate) table: Area,
    /// Missing while the table is only held
    pub(crate) guest: Option<Guest>,
    /// In euros
    pub(crate) deposit: u32,
    pub(crate) paid: bool,
}

impl Booking {
    pub(crate) fn is_due(&self) -> bool {
        self.guest.is_some() && self.deposit > 0 && !self.paid
    }
}

struct Entry {
    booking: Booking,
    /// End of the hold. `None` once the booking is confirmed.
    held_until: Option<Instant>,
    /// Last segment of the URL of the payment page.
    page: String,
    /// Secret in the form on the payment page. A payment must contain it.
    token: String,
}

#[derive(Default)]
struct Book {
    entries: HashMap<String, Entry>,
    /// Waiting calls, the oldest first.
    waiting: Vec<(Visit, oneshot::Sender<Booking>)>,
}

struct House {
    book: Mutex<Book>,
    server: Handle,
    /// Base URL of the payment pages.
    address: String,
}

#[derive(Clone)]
pub(crate) struct Restaurant(Arc<House>);

impl Restaurant {
    pub(crate) fn new(server: Handle, address: String) -> Self {
        Self(Arc::new(House { book: Mutex::default(), server, address }))
    }

    /// Locks the book and brings it up to date: ends the holds that have expired, and holds free tables for waiting calls.
    fn book(&self) -> MutexGuard<'_, Book> {
        let mut book = self.0.book.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        book.entries.retain(|_, entry| entry.held_until.is_none_or(|until| now < until));
        book.serve_waiting();
        book
    }

    /// Holds a table while the user is asked for the remaining details. The error gives the reason why there is no table.
    pub(crate) fn hold(&self, visit: &Visit) -> Result<Booking, String> {
        possible(visit)?;
        self.book().hold(visit).ok_or_else(|| format!("There is no table on {visit}."))
    }

    /// Waits for a table and holds it. If the call is cancelled, the server drops this future, which ends the wait.
    pub(crate) async fn wait(&self, visit: &Visit) -> Result<Booking> {
        possible(visit).map_err(Error::msg)?;
        let (offer, mut offered) = oneshot::channel();
        self.book().waiting.push((visit.clone(), offer));
        loop {
            // An expired hold does not wake any call, so each waiting call updates the book once a minute.
            drop(self.book());
            if let Ok(offered) = timeout(Duration::from_secs(60), &mut offered).await {
                return Ok(offered?);
            }
        }
    }

    /// Confirms a held table for the guest, in the given area if a table is free there. A second confirmation changes nothing.
    pub(crate) fn confirm(&self, id: &str, guest: Guest, area: Option<Area>) -> Result<Booking> {
        let mut book = self.book();
        let visit = book.entries.get(id).map(|entry| entry.booking.visit.clone());
        let free = visit.map(|visit| book.free(&visit)).unwrap_or_default();
        let entry = book.entries.get_mut(id);
        let entry = entry.ok_or_else(|| Error::msg("the table is no longer held: begin again"))?;
        if entry.held_until.take().is_some() {
            entry.booking.guest = Some(guest);
            entry.booking.table =
                area.filter(|area| free.contains(area)).unwrap_or(entry.booking.table);
        }
        let booking = entry.booking.clone();
        book.serve_waiting();
        Ok(booking)
    }

    /// Removes a booking or a hold, and offers its table to the waiting calls. Returns whether the booking existed.
    pub(crate) fn release(&self, id: &str) -> bool {
        let mut book = self.book();
        let released = book.entries.remove(id).is_some();
        book.serve_waiting();
        drop(book);
        self.0.server.updated(format!("booking://{id}"));
        released
    }

    pub(crate) fn booking(&self, id: &str) -> Option<Booking> {
        let booking = self.book().entries.get(id)?.booking.clone();
        booking.guest.is_some().then_some(booking)
    }

    /// Returns the URL of the payment page of a booking.
    pub(crate) fn page_of(&self, id: &str) -> Option<String> {
        let page = self.book().entries.get(id)?.page.clone();
        Some(format!("{}/pay/{page}", self.0.address))
    }

    /// Returns the booking that is paid on a page, and the token that the form on the page contains.
    pub(crate) fn bill(&self, page: &str) -> Option<(Booking, String)> {
        let book = self.book();
        let entry = book.entries.values().find(|entry| entry.page == page)?;
        Some((entry.booking.clone(), entry.token.clone()))
    }

    /// Records the deposit if the token is that of the form on the page. Notifies the subscribers of the booking, and the clients whose
    /// users were sent to the page.
    pub(crate) fn pay(&self, page: &str, token: &str) -> bool {
        let mut book = self.book();
        let entry =
            book.entries.values_mut().find(|entry| entry.page == page && entry.token == token);
        let Some(Entry { booking, .. }) = entry else { return false };
        booking.paid = true;
        self.0.server.updated(format!("booking://{}", booking.id));
        self.0.server.url_completed(format!("{}/pay/{page}", self.0.address));
        true
    }
}

impl Book {
    fn serve_waiting(&mut self) {
        for (visit, offer) in mem::take(&mut self.waiting) {
            if offer.is_closed() {
                continue;
            }
            match self.hold(&visit) {
                // If the call has ended since the check above, the table stays held until the hold expires, as it does when the user does
                // not answer.
                Some(held) => drop(offer.send(held)),
                None => self.waiting.push((visit, offer)),
            }
        }
    }

    fn free(&self, visit: &Visit) -> Vec<Area> {
        let bookings = self.entries.values().map(|entry| &entry.booking);
        let there = bookings
            .filter(|booking| booking.visit.day == visit.day && booking.visit.time == visit.time);
        let taken: Vec<_> = there.map(|booking| booking.table).collect();
        let free =
            TABLES.iter().filter(|table| table.1 >= visit.guests && !taken.contains(&table.0));
        free.map(|table| table.0).collect()
    }

    fn hold(&mut self, visit: &Visit) -> Option<Booking> {
        let (table, visit) = (*self.free(visit).first()?, visit.clone());
        let deposit = if visit.guests > FEW { 10 * u32::from(visit.guests) } else { 0 };
        let (id, page, token) = (secret()?, secret()?, secret()?);
        let booking = Booking { id, visit, table, guest: None, deposit, paid: false };
        let held_until = Some(Instant::now() + HELD);
        let entry = Entry { booking: booking.clone(), held_until, page, token };
        self.entries.insert(booking.id.clone(), entry);
        Some(booking)
    }
}

fn possible(visit: &Visit) -> Result<(), String> {
    let day: jiff::civil::Date =
        visit.day.parse().map_err(|_| format!("{} is not a date.", visit.day))?;
    let today = jiff::Zoned::now().date();
    if day < today { Err(format!("{day} is in the past: today is {today}.")) } else { Ok(()) }
}

/// Returns 128 random bits as hexadecimal digits.
fn secret() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
