//! Key that the nodes of a server share. With it, all nodes derive the same tokens, and tell their own tokens from invented ones.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_runtime::store::{Condition, Record, StoreOperation, Transaction};
use ring::hmac;
use subtle::ConstantTimeEq as _;
use tokio::{sync::Mutex, time::Instant};

use crate::{
    grant::grant_name,
    nodes::shared_store::{Round, SharedStore, record},
    oauth_error::OAuthError,
    provider::Provider,
    secret::{Digest, SecretChain},
};

const PARTITION: &str = "authorization:key";

const NAME: &str = "key";

/// Time after which the key expires unless a node issues a token or looks for a new key. It is longer than the time for which a grant is
/// valid without a refresh (`IDLE` in `grant`).
const TTL: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Time for which a node trusts that its key is still the common key of all nodes. It also bounds how often invented tokens make a node
/// look for a new key.
const FRESH: Duration = Duration::from_secs(1);

/// Maximum number of keys that a node knows. A node knows more than one key only if the store has lost its data.
const MOST: usize = 3;

/// Lengths of the parts of a token in characters, after the name of its grant and the mark of its kind.
const SECRET: usize = 43;
const TAG: usize = 22;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Access,
    Refresh,
}

impl TokenKind {
    /// Returns the character between the name of the grant and the secret.
    fn mark(self) -> char {
        match self {
            Self::Access => '.',
            Self::Refresh => '~',
        }
    }
}

/// Token that one of the nodes has issued, and that may have expired since.
#[derive(Clone, Copy)]
pub(crate) struct IssuedToken {
    pub(crate) kind: TokenKind,
    /// Key of the grant.
    pub(crate) grant: Digest,
    pub(crate) digest: Digest,
}

/// Keys that all nodes derive from a random part, which the first node has created.
pub(crate) struct NodeKey {
    /// Random part, which the store keeps.
    random: [u8; 32],
    /// Derives the tokens that a refresh issues.
    pub(crate) chain: SecretChain,
    tags: hmac::Key,
}

impl NodeKey {
    fn new(random: [u8; 32]) -> Self {
        let derived = |purpose: &str| {
            let root = hmac::Key::new(hmac::HMAC_SHA256, &random);
            hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&root, purpose.as_bytes()).as_ref())
        };
        Self { random, chain: SecretChain::of(derived("chain")), tags: derived("tags") }
    }

    /// Returns the key that seals the secrets of an upstream provider.
    fn sealing(&self) -> [u8; 32] {
        let root = hmac::Key::new(hmac::HMAC_SHA256, &self.random);
        hmac::sign(&root, b"seal").as_ref().try_into().unwrap_or(self.random)
    }

    /// Builds a token of the grant with this name. The tag at its end shows that a node has issued it.
    pub(crate) fn mint(&self, kind: TokenKind, name: &str, secret: &str) -> String {
        let mut token = format!("{name}{}{secret}", kind.mark());
        token.push_str(&self.tag(&token));
        token
    }

    fn tag(&self, text: &str) -> String {
        let tag = hmac::sign(&self.tags, text.as_bytes());
        URL_SAFE_NO_PAD.encode(&tag.as_ref()[..16])
    }

    fn has_minted(&self, token: &str) -> bool {
        let (text, tag) = token.split_at(token.len() - TAG);
        self.tag(text).as_bytes().ct_eq(tag.as_bytes()).into()
    }
}

/// Keys that the nodes share. The first key issues tokens, and all keys verify them.
pub(crate) struct KeyRing {
    store: Arc<SharedStore>,
    /// Provider whose tokens are sealed with these keys, unless its author has set a key.
    provider: Option<Arc<Provider>>,
    keys: RwLock<Vec<Arc<NodeKey>>>,
    checked: Mutex<CheckedKey>,
}

/// Time of the last attempt to read the common key of all nodes, and whether the attempt has failed.
#[derive(Default)]
struct CheckedKey {
    at: Option<Instant>,
    has_failed: bool,
}

impl KeyRing {
    pub(crate) fn new(store: Arc<SharedStore>, provider: Option<Arc<Provider>>) -> Self {
        let (keys, checked) = (RwLock::default(), Mutex::default());
        Self { store, provider, keys, checked }
    }

    fn keys(&self) -> Vec<Arc<NodeKey>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the key that issues tokens.
    ///
    /// # Errors
    /// Fails if the key has to be read, and the store cannot be used.
    pub(crate) async fn current(&self) -> Result<Arc<NodeKey>, OAuthError> {
        self.check().await?;
        self.keys().into_iter().next().ok_or_else(OAuthError::store_unavailable)
    }

    /// Returns the parts of a token, if one of the nodes has issued it.
    ///
    /// A token with an unknown tag makes the node read the common key again, but at most once a second. So invented tokens cost no further
    /// transactions.
    ///
    /// # Errors
    /// Fails if the key has to be read, and the store cannot be used.
    pub(crate) async fn parse(&self, token: &str) -> Result<Option<IssuedToken>, OAuthError> {
        let Some(found) = parts(token) else { return Ok(None) };
        let is_known = || self.keys().iter().any(|key| key.has_minted(token));
        if !is_known() {
            self.check().await?;
        }
        Ok(is_known().then_some(found))
    }

    /// Reads the common key of all nodes, unless this node has tried within the last second. If the store has no key, the key of this node
    /// becomes the common key.
    async fn check(&self) -> Result<(), OAuthError> {
        let mut checked = self.checked.lock().await;
        if checked.at.is_some_and(|at| at.elapsed() < FRESH) {
            return match checked.has_failed {
                true => Err(OAuthError::store_unavailable()),
                false => Ok(()),
            };
        }
        let found = self.store.repeat(|| self.read()).await;
        *checked = CheckedKey { at: Some(Instant::now()), has_failed: found.is_err() };
        self.adopt(found?);
        Ok(())
    }

    async fn read(&self) -> Result<Round<[u8; 32]>, OAuthError> {
        let read = Transaction::on(PARTITION)
            .then(StoreOperation::get(NAME))
            .then(StoreOperation::Touch { name: NAME.to_owned(), ttl: TTL });
        let mut outputs = self.store.apply(read).await?;
        outputs.truncate(1);
        if let Some(Record { value, .. }) = record(outputs.pop()) {
            let random = value.try_into();
            return random.map(Round::Done).map_err(|_| OAuthError::store_unavailable());
        }
        let own = match self.keys().first() {
            Some(key) => key.random,
            None => random()?,
        };
        let put = StoreOperation::put(NAME, own, TTL, Condition::Absent);
        let put = self.store.run(Transaction::on(PARTITION).then(put)).await?;
        Ok(if put.is_ok() { Round::Done(own) } else { Round::Again })
    }

    /// Makes this key the first one.
    fn adopt(&self, random: [u8; 32]) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        if keys.first().is_some_and(|key| key.random == random) {
            return;
        }
        keys.retain(|key| key.random != random);
        keys.insert(0, Arc::new(NodeKey::new(random)));
        keys.truncate(MOST);
        if let Some(provider) = &self.provider {
            provider.share_keys(keys.iter().map(|key| key.sealing()));
        }
    }
}

fn random() -> Result<[u8; 32], OAuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        OAuthError::server_error("the system provides no random numbers", &error)
    })?;
    Ok(bytes)
}

/// Splits a token. The caller checks its tag.
pub(super) fn parts(token: &str) -> Option<IssuedToken> {
    let name = grant_name(token);
    let rest = token.strip_prefix(name)?;
    let kind = [TokenKind::Access, TokenKind::Refresh].into_iter();
    let kind = kind.into_iter().find(|kind| rest.starts_with(kind.mark()))?;
    let is_whole = token.is_ascii() && rest.len() == 1 + SECRET + TAG;
    is_whole.then(|| IssuedToken { kind, grant: Digest::of(name), digest: Digest::of(token) })
}

#[cfg(test)]
mod tests {
    use mcp_runtime::store::MemoryStore;

    use super::*;
    use crate::secret;

    fn ring(store: &Arc<SharedStore>) -> KeyRing {
        KeyRing::new(store.clone(), None)
    }

    fn name() -> String {
        secret::random::<16>().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn all_nodes_use_the_key_of_the_first_one() {
        let memory = Arc::new(MemoryStore::new().shared());
        let store = Arc::new(SharedStore::new(memory));
        let (one, other) = (ring(&store), ring(&store));
        let [a, b] = [one.current().await.unwrap(), other.current().await.unwrap()];
        assert_eq!(a.chain.next("x", "s").unwrap(), b.chain.next("x", "s").unwrap());
        assert_eq!(a.sealing(), b.sealing());
        let token = a.mint(TokenKind::Access, &name(), &secret::random::<32>().unwrap());
        let found = other.parse(&token).await.unwrap().unwrap();
        assert!(found.kind == TokenKind::Access && found.digest == Digest::of(&token));
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(other.parse(&changed).await.unwrap().is_none(), "{at}");
        }
        for short in ["", "x", &token[1..], &format!("{token}x"), &"ü".repeat(44)] {
            assert!(other.parse(short).await.unwrap().is_none(), "{short}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_without_data_gets_the_key_of_a_node_that_still_has_one() {
        let [before, after] = [(); 2].map(|()| MemoryStore::new().shared());
        let before = Arc::new(SharedStore::new(Arc::new(before)));
        let after = Arc::new(SharedStore::new(Arc::new(after)));
        let old = ring(&before);
        let random = old.current().await.unwrap().random;
        // The store has lost its data: the old node finds another store under the same name.
        let old = KeyRing { store: after.clone(), ..old };
        tokio::time::advance(FRESH).await;
        assert_eq!(old.current().await.unwrap().random, random);
        assert_eq!(ring(&after).current().await.unwrap().random, random);

        // If a new node comes first, the old one adopts its key, and still knows the tokens that it has issued before.
        let new = ring(&before);
        new.adopt([7; 32]);
        let token =
            new.keys()[0].mint(TokenKind::Refresh, &name(), &secret::random::<32>().unwrap());
        assert_ne!(new.current().await.unwrap().random, [7; 32]);
        assert!(new.parse(&token).await.unwrap().is_some());
    }
}
