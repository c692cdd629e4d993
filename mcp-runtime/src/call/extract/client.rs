use std::{ops::Deref, sync::Arc};

use super::FromCall;
use crate::{call::context::Context, error::Result, model::ClientInfo};

/// Parameter for the client that calls: its name, version and declared capabilities.
#[derive(Clone, Debug)]
pub struct Client(Arc<ClientInfo>);

impl Deref for Client {
    type Target = ClientInfo;

    fn deref(&self) -> &ClientInfo {
        &self.0
    }
}

#[diagnostic::do_not_recommend]
impl FromCall<'_> for Client {
    fn from_call(context: &Context) -> Result<Self> {
        Ok(Self(context.0.caller.client.clone()))
    }
}
