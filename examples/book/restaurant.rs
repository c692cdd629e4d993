//! The house: its tables, who has them, and who waits for one.

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

/// Where they are and how many sit there, the smallest first.
const TABLES: [(Area, u8); 3] = [(Area::Window, 2), (Area::Garden, 4), (Area::Hall, 8)];

/// More are a group, and pay a deposit.
pub(crate) const FEW: u8 = 4;

/// How long a table is kept for somebody who has to answer.
pub(crate) const HELD: Duration = Duration::from_secs(15 * 60);

/// Who comes, and what the kitchen should know.
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
    /// Nobody yet, while the table is only held
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
    /// Until it is somebody's.
    held_until: Option<Instant>,
    /// The last part of the page's address, and what only the page itself knows.
    page: String,
    token: String,
}

#[derive(Default)]
struct Book {
    entries: HashMap<String, Entry>,
    /// In the order in which they came.
    waiting: Vec<(Visit, oneshot::Sender<Booking>)>,
}

struct House {
    book: Mutex<Book>,
    server: Handle,
    /// Where the pages are.
    address: String,
}

#[derive(Clone)]
pub(crate) struct Restaurant(Arc<House>);

impl Restaurant {
    pub(crate) fn new(server: Handle, address: String) -> Self {
        Self(Arc::new(House { book: Mutex::default(), server, address }))
    }

    /// The book, in which nothing is out of date: no table is kept too long, or free for which somebody waits.
    fn book(&self) -> MutexGuard<'_, Book> {
        let mut book = self.0.book.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        book.entries.retain(|_, it| it.held_until.is_none_or(|until| now < until));
        book.serve_waiting();
        book
    }

    /// Keeps a table for somebody who is asked for the rest, or says why there is none.
    pub(crate) fn hold(&self, visit: &Visit) -> Result<Booking, String> {
        possible(visit)?;
        self.book().hold(visit).ok_or_else(|| format!("There is no table on {visit}."))
    }

    /// Waits for a table, and keeps it. Whoever stops waiting is forgotten: a call that is cancelled is dropped.
    pub(crate) async fn wait(&self, visit: &Visit) -> Result<Booking> {
        possible(visit).map_err(Error::msg)?;
        let (offer, mut offered) = oneshot::channel();
        self.book().waiting.push((visit.clone(), offer));
        loop {
            // Nobody is told when a table has been kept too long, so somebody has to look.
            drop(self.book());
            if let Ok(offered) = timeout(Duration::from_secs(60), &mut offered).await {
                return Ok(offered?);
            }
        }
    }

    /// Makes a table that is held somebody's, in another area where there is one. To say it again changes nothing.
    pub(crate) fn confirm(&self, id: &str, guest: Guest, area: Option<Area>) -> Result<Booking> {
        let mut book = self.book();
        let visit = book.entries.get(id).map(|it| it.booking.visit.clone());
        let free = visit.map(|it| book.free(&it)).unwrap_or_default();
        let entry = book.entries.get_mut(id);
        let entry = entry.ok_or_else(|| Error::msg("the table is kept no longer: begin again"))?;
        if entry.held_until.take().is_some() {
            entry.booking.guest = Some(guest);
            entry.booking.table =
                area.filter(|it| free.contains(it)).unwrap_or(entry.booking.table);
        }
        let booking = entry.booking.clone();
        book.serve_waiting();
        Ok(booking)
    }

    /// Gives a table back to those who wait. Returns whether there was such a booking.
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

    /// Where a deposit is paid.
    pub(crate) fn page_of(&self, id: &str) -> Option<String> {
        let page = self.book().entries.get(id)?.page.clone();
        Some(format!("{}/pay/{page}", self.0.address))
    }

    /// What is paid for at a page, and the token of its button.
    pub(crate) fn bill(&self, page: &str) -> Option<(Booking, String)> {
        let book = self.book();
        let entry = book.entries.values().find(|it| it.page == page)?;
        Some((entry.booking.clone(), entry.token.clone()))
    }

    /// Takes the deposit when the button of this very page was pressed, and tells who waits for that.
    pub(crate) fn pay(&self, page: &str, token: &str) -> bool {
        let mut book = self.book();
        let entry = book.entries.values_mut().find(|it| it.page == page && it.token == token);
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
                // Whoever has gone just now loses it like anybody who does not answer.
                Some(held) => drop(offer.send(held)),
                None => self.waiting.push((visit, offer)),
            }
        }
    }

    fn free(&self, visit: &Visit) -> Vec<Area> {
        let bookings = self.entries.values().map(|it| &it.booking);
        let there = bookings.filter(|it| it.visit.day == visit.day && it.visit.time == visit.time);
        let taken: Vec<_> = there.map(|it| it.table).collect();
        let free = TABLES.iter().filter(|it| it.1 >= visit.guests && !taken.contains(&it.0));
        free.map(|it| it.0).collect()
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
        visit.day.parse().map_err(|_| format!("{} is no day.", visit.day))?;
    let today = jiff::Zoned::now().date();
    if day < today { Err(format!("{day} is over, it is {today} today.")) } else { Ok(()) }
}

/// A text that nobody can guess.
fn secret() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
