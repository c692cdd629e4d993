//! Questions to the client, in the words of a revision.

use super::{Scope, form::form, result_type, sampling::sampling};
use crate::{
    model::{NeedInput, Question},
    protocol::{Service, revision::Revision},
    wire::Object,
};

/// Writes the parameters of a question; a page has an id in the revision that knows those.
///
/// # Errors
/// What the revision has no words for.
pub(in crate::protocol) fn question(
    params: &mut Object<'_>,
    revision: Revision,
    question: &Question,
    elicitation_id: Option<&str>,
) -> Result<(), String> {
    match question {
        Question::Form { message, schema, .. } => {
            params.str("message", message);
            form(params, revision, schema)
        }
        Question::Url { message, url, .. } => {
            params.str("mode", "url").str("message", message).str("url", url);
            params.opt_str("elicitationId", elicitation_id);
            Ok(())
        }
        Question::Sample(it) => sampling(params, revision, it),
        Question::Roots => Ok(()),
    }
}

/// Writes the result of a call that needs answers (MRTR-02, MRTR-03).
///
/// # Errors
/// What the revision has no words for.
pub(super) fn need_input(
    result: &mut Object<'_>,
    service: &Service,
    scope: Scope,
    input: &NeedInput,
) -> Result<(), String> {
    result_type(result, scope.revision, "input_required");
    requests(result, scope.revision, &input.questions)?;
    result.str("requestState", &input.state);
    super::meta(result, service, scope.revision, None);
    Ok(())
}

/// Writes all questions that wait, by their keys.
///
/// # Errors
/// What the revision has no words for.
pub(super) fn requests(
    object: &mut Object<'_>,
    revision: Revision,
    questions: &[(Box<str>, Question)],
) -> Result<(), String> {
    let mut requests = object.object("inputRequests");
    for (key, question) in questions {
        let mut request = Object::begin(requests.given_key(key));
        request.str("method", question.method());
        self::question(&mut request.object("params"), revision, question, None)?;
    }
    Ok(())
}
