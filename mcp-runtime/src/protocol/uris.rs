use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use super::method::invalid;
use crate::{
    error::{Error, Kind},
    limits::{Limit, Limits, NoShare, Pool, Share, Tenant},
    percent,
};

/// Resources that a session or a stream has subscribed to.
///
/// URIs are compared decoded, because clients differ in what they percent-encode, and servers write `updated(format!("note://{title}"))`.
/// Each client is notified with the URI as the client wrote it.
#[derive(Debug, Default)]
pub(super) struct SubscribedUris {
    /// Decoded URIs, each with the client's spelling.
    said: BTreeMap<String, String>,
    bytes: usize,
    /// Share of the bytes that all clients may subscribe to.
    share: Option<Share>,
}

/// Approximate size of an entry without its texts, in bytes.
const ENTRY: usize = 128;

/// Returns the bytes that a URI takes of the room that all clients share.
fn size(uri: &str) -> usize {
    ENTRY + 2 * uri.len()
}

/// Returns the limit and the error for a client that has too many subscriptions (`by_number`), or subscriptions with too many bytes.
#[cold]
pub(super) fn too_many(limits: &Limits, by_number: bool) -> (Limit, Error) {
    let (most, bytes) = (limits.subscriptions, limits.subscription_bytes);
    let error = invalid(format_args!(
        "at most {most} resources, of {bytes} bytes together, can be subscribed to: end some subscriptions"
    ));
    (if by_number { Limit::Subscriptions } else { Limit::SubscriptionBytes }, error)
}

fn no_room(why: NoShare) -> &'static str {
    match why {
        NoShare::Empty => "all clients together have subscribed to too much: try again later",
        NoShare::Reserved | NoShare::Own => {
            "this client has its share of what all clients together may subscribe to: end some subscriptions"
        }
    }
}

fn plain(uri: &str) -> Cow<'_, str> {
    percent::decode(uri).unwrap_or(Cow::Borrowed(uri))
}

impl SubscribedUris {
    /// Adds a URI, which is kept as long as the subscription.
    ///
    /// # Errors
    /// Fails if the URI is too long, there are too many already, `others` included, or the client has its share of the bytes of all
    /// clients. The result has the limit and the error.
    pub(super) fn add(
        &mut self,
        uri: &str,
        others: usize,
        limits: &Limits,
        tenant: &Arc<Tenant>,
    ) -> Result<(), (Limit, Error)> {
        if uri.len() > limits.uri {
            let error = invalid(format_args!(
                "a URI of {} bytes is too long to subscribe to: at most {}",
                uri.len(),
                limits.uri
            ));
            return Err((Limit::Uri, error));
        }
        let plain = plain(uri);
        if self.said.contains_key(&*plain) {
            return Ok(());
        }
        let (count, bytes) = (self.said.len() + others, self.bytes + 2 * uri.len());
        if count >= limits.subscriptions || bytes > 2 * limits.subscription_bytes {
            return Err(too_many(limits, count >= limits.subscriptions));
        }
        let (size, all) = (size(uri), limits.all_subscription_bytes);
        let taken = match &mut self.share {
            Some(share) => share.grow(size, all),
            None => tenant.take(Pool::Subscriptions, size, all).map(|it| self.share = Some(it)),
        };
        taken
            .map_err(|why| (Limit::AllSubscriptionBytes, Error::of(Kind::Failed, no_room(why))))?;
        self.bytes = bytes;
        self.said.insert(plain.into_owned(), uri.to_owned());
        Ok(())
    }

    pub(super) fn remove(&mut self, uri: &str) {
        if let Some(said) = self.said.remove(&*plain(uri)) {
            self.bytes -= 2 * said.len();
            if let Some(share) = &mut self.share {
                share.shrink(size(&said));
            }
        }
    }

    /// Returns the client's spelling of `uri`, if the client has subscribed to the resource.
    pub(super) fn get(&self, uri: &str) -> Option<&str> {
        self.said.get(&*plain(uri)).map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.said.len()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.said.values().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Shares, Who};

    fn tenant() -> Arc<Tenant> {
        Shares::default().tenant(Who::Anybody)
    }

    #[test]
    fn a_resource_is_known_by_what_its_uri_says() {
        fn check(updated: &str, expected: Option<&str>) {
            let mut uris = SubscribedUris::default();
            for it in ["note://a%20b", "note://100%25", "note://%zz"] {
                uris.add(it, 0, &Limits::new(), &tenant()).unwrap();
            }
            assert_eq!(uris.get(updated), expected, "{updated}");
        }
        check("note://a%20b", Some("note://a%20b"));
        check("note://a b", Some("note://a%20b"));
        check("note://100%", Some("note://100%25"));
        check("note://%zz", Some("note://%zz"));
        check("note://a", None);
    }

    #[test]
    fn subscribed_uris_are_limited_in_number_and_length() {
        let limits = Limits::new().uri(10).subscriptions(3).subscription_bytes(12);
        let (mut uris, room) = (SubscribedUris::default(), tenant());
        assert!(uris.add("12345678901", 0, &limits, &room).is_err());
        for uri in ["12345", "1", "1", "123456"] {
            assert!(uris.add(uri, 0, &limits, &room).is_ok(), "{uri}");
        }
        assert_eq!(uris.len(), 3);
        assert!(uris.add("2", 0, &limits, &room).is_err(), "too many");
        uris.remove("1");
        assert!(uris.add("22", 0, &limits, &room).is_err(), "too long together");
        assert!(uris.add("2", 1, &limits, &room).is_err(), "too many with others");
        assert!(uris.add("2", 0, &limits, &room).is_ok());
    }
}
