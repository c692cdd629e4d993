//! Questions to the client, in the form of a revision.

use super::{AnswerScope, form::form, result_type, sampling::sampling};
use crate::{
    model::{NeedInput, Question},
    protocol::{Service, revision::Revision},
    wire::Object,
};

/// Writes the parameters of a question. `elicitation_id` is the id of a page, for the revision that has such ids.
///
/// # Errors
/// Fails if the revision cannot express the question.
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

/// Writes the result of a call that needs answers (rules MRTR-02 and MRTR-03).
///
/// # Errors
/// Fails if the revision cannot express one of the questions.
pub(super) fn need_input(
    result: &mut Object<'_>,
    service: &Service,
    scope: AnswerScope,
    input: &NeedInput,
) -> Result<(), String> {
    result_type(result, scope.revision, "input_required");
    requests(result, scope.revision, &input.questions)?;
    result.str("requestState", &input.state);
    super::meta(result, service, scope.revision, None);
    Ok(())
}

/// Writes all open questions, by their keys.
///
/// # Errors
/// Fails if the revision cannot express one of the questions.
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
