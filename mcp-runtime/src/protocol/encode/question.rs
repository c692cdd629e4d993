//! Encoding of questions to the client: elicitation, sampling and roots requests (forms: rules ELIC-03 to ELIC-06).

use mcp_runtime_wire::{ObjectWriter, Raw, write};

use super::{
    result::{AnswerScope, meta, result_type},
    sampling::sampling,
};
use crate::{
    model::{Choices, FieldKind, FieldSchema, FormSchema, NeedInput, Question, TextFormat},
    protocol::{revision::Revision, service::Service},
};

/// Writes the parameters of a question. `elicitation_id` becomes the member `elicitationId` of a URL-mode elicitation. It is `None` in
/// revisions without this member.
///
/// # Errors
/// Fails if the revision cannot express the question.
pub(in crate::protocol) fn question(
    params: &mut ObjectWriter<'_>,
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
        Question::Sample(request) => sampling(params, revision, request),
        Question::Roots => Ok(()),
        Question::Written(written) => {
            for (name, json) in Raw::trusted(&written.params).members() {
                write::raw(params.given_key(&name), json.as_str());
            }
            params.opt_str("elicitationId", elicitation_id);
            Ok(())
        }
    }
}

/// Returns the parameters of a question as JSON text, for a node that sends the question in place of this one. Both revisions with tasks
/// write a question in the same way. Returns `None` if the newest revision cannot express the question.
pub(crate) fn written_question(question: &Question) -> Option<String> {
    let mut out = Vec::new();
    let mut params = ObjectWriter::begin(&mut out);
    self::question(&mut params, Revision::MODERN[0], question, None).ok()?;
    params.end();
    String::from_utf8(out).ok()
}

/// Writes the result of a call that needs answers from the client (rules MRTR-02 and MRTR-03).
///
/// # Errors
/// Fails if the revision cannot express one of the questions.
pub(super) fn need_input(
    result: &mut ObjectWriter<'_>,
    service: &Service,
    scope: AnswerScope,
    input: &NeedInput,
) -> Result<(), String> {
    result_type(result, scope.revision, "input_required");
    requests(result, scope.revision, &input.questions)?;
    result.str("requestState", &input.state);
    meta(result, service, scope.revision, None);
    Ok(())
}

/// Writes all open questions, by their keys.
///
/// # Errors
/// Fails if the revision cannot express one of the questions.
pub(super) fn requests(
    object: &mut ObjectWriter<'_>,
    revision: Revision,
    questions: &[(Box<str>, Question)],
) -> Result<(), String> {
    let mut requests = object.object("inputRequests");
    for (key, question) in questions {
        let mut request = ObjectWriter::begin(requests.given_key(key));
        request.str("method", question.method());
        self::question(&mut request.object("params"), revision, question, None)?;
    }
    Ok(())
}

/// Writes the member `requestedSchema` of a form-mode elicitation.
///
/// # Errors
/// Fails if the revision cannot express the form. Nothing is written in that case.
fn form(
    params: &mut ObjectWriter<'_>,
    revision: Revision,
    schema: &FormSchema,
) -> Result<(), String> {
    let rich = revision.features().rich_forms;
    let several = |field: &&FieldSchema| matches!(field.kind, FieldKind::Several { .. });
    if !rich && let Some(field) = schema.fields.iter().find(several) {
        return Err(format!(
            "the field `{}` of the form allows several choices, but a client of {revision} can only be asked for one; \
             a `bool` for each choice works with every client",
            field.name
        ));
    }
    let mut object = params.object("requestedSchema");
    object.str("type", "object");
    let mut properties = object.object("properties");
    for field in &schema.fields {
        self::field(&mut ObjectWriter::begin(properties.given_key(field.name)), rich, field);
    }
    properties.end();
    let required: Vec<&FieldSchema> = schema.fields.iter().filter(|field| field.required).collect();
    if !required.is_empty() {
        let mut names = object.array("required");
        for field in required {
            names.str(field.name);
        }
    }
    Ok(())
}

fn field(object: &mut ObjectWriter<'_>, rich: bool, field: &FieldSchema) {
    object.str("type", type_name(&field.kind));
    object.opt_str("title", field.title).opt_str("description", field.description);
    match &field.kind {
        FieldKind::Text { least, most, format } => {
            count(object, "minLength", *least);
            count(object, "maxLength", *most);
            object.opt_str("format", format.map(TextFormat::name));
        }
        FieldKind::Integer { least, most } => {
            for (name, bound) in [("minimum", least), ("maximum", most)] {
                if let Some(bound) = bound {
                    object.raw(name, &bound.to_string());
                }
            }
        }
        FieldKind::Number { least, most } => {
            for (name, bound) in [("minimum", least), ("maximum", most)] {
                if let Some(bound) = bound {
                    object.f64(name, *bound);
                }
            }
        }
        FieldKind::Bool => {}
        FieldKind::Choice(choices) => {
            let named = choices.enum_names || !rich;
            match (choices.is_titled(), named) {
                (true, false) => titled(object, "oneOf", choices),
                (is_titled, _) => {
                    texts(object, "enum", choices.values());
                    if is_titled {
                        texts(object, "enumNames", choices.titles());
                    }
                }
            }
        }
        FieldKind::Several { choices, least, most } => {
            count(object, "minItems", *least);
            count(object, "maxItems", *most);
            let mut items = object.object("items");
            if choices.is_titled() {
                titled(&mut items, "anyOf", choices);
            } else {
                items.str("type", "string");
                texts(&mut items, "enum", choices.values());
            }
        }
    }
    let told = rich || field.kind == FieldKind::Bool;
    if let Some(default) = field.default.as_deref().filter(|_| told) {
        object.raw("default", default);
    }
}

fn type_name(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Text { .. } | FieldKind::Choice(_) => "string",
        FieldKind::Integer { .. } => "integer",
        FieldKind::Number { .. } => "number",
        FieldKind::Bool => "boolean",
        FieldKind::Several { .. } => "array",
    }
}

fn count(object: &mut ObjectWriter<'_>, name: &'static str, count: Option<usize>) {
    if let Some(count) = count {
        object.u64(name, count as u64);
    }
}

fn texts(
    object: &mut ObjectWriter<'_>,
    name: &'static str,
    texts: impl Iterator<Item = &'static str>,
) {
    let mut array = object.array(name);
    for text in texts {
        array.str(text);
    }
}

fn titled(object: &mut ObjectWriter<'_>, name: &'static str, choices: &Choices) {
    let mut array = object.array(name);
    for choice in &choices.all {
        array.object().str("const", choice.value).str("title", choice.title());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Sampling, SamplingTool, WrittenQuestion},
        prelude::{Form, form},
    };

    fn written<T: Form>(revision: Revision) -> Result<String, String> {
        let mut out = Vec::new();
        let mut params = ObjectWriter::begin(&mut out);
        super::form(&mut params, revision, T::schema())?;
        params.end();
        let text = String::from_utf8(out).unwrap();
        let inner = text.strip_prefix(r#"{"requestedSchema":"#).unwrap().strip_suffix('}').unwrap();
        Ok(inner.to_owned())
    }

    /// Checks how a form is written: `expected[0]` before 2025-11-25, `expected[1]` since then.
    #[track_caller]
    fn check<T: Form>(expected: [&str; 2]) {
        let [.., june, november, modern] = Revision::ALL;
        assert_eq!(written::<T>(june).as_deref(), Ok(expected[0]));
        assert_eq!(written::<T>(november).as_deref(), Ok(expected[1]));
        assert_eq!(written::<T>(modern).as_deref(), Ok(expected[1]));
    }

    #[form(crate = crate)]
    #[serde(rename_all = "lowercase")]
    enum Status {
        Active,
        Inactive,
        Pending,
    }

    /// `test_elicitation_sep1034_defaults` of the official fixture.
    #[form(crate = crate)]
    struct Defaults {
        #[arg(default = "John Doe")]
        name: String,
        #[arg(default = 30)]
        age: i64,
        #[arg(default = 95.5)]
        score: f64,
        #[arg(default = Status::Active)]
        status: Status,
        #[arg(default = true)]
        verified: bool,
    }

    #[test]
    fn defaults_of_all_types_are_written_where_the_revision_has_them() {
        check::<Defaults>([
            r#"{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"score":{"type":"number"},"status":{"type":"string","enum":["active","inactive","pending"]},"verified":{"type":"boolean","default":true}}}"#,
            r#"{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}"#,
        ]);
    }

    #[form(crate = crate)]
    #[serde(rename_all = "lowercase")]
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Titled {
        /// First
        /// Option
        ///
        /// And what nobody needs to see.
        Value1,
        #[arg(title = "Second Option")]
        Value2,
        Value3,
    }

    #[form(crate = crate, enum_names)]
    enum Legacy {
        /// Option One
        #[serde(rename = "opt1")]
        One,
        /// Option Two
        #[serde(rename = "opt2")]
        Two,
    }

    #[form(crate = crate)]
    struct OneOf {
        titled: Titled,
        #[arg(default = Legacy::Two)]
        legacy: Legacy,
        optional: Option<Status>,
    }

    #[test]
    fn a_choice_of_one_value_is_encoded_in_three_ways() {
        check::<OneOf>([
            r#"{"type":"object","properties":{"titled":{"type":"string","enum":["value1","value2","value3"],"enumNames":["First Option","Second Option","value3"]},"legacy":{"type":"string","enum":["opt1","opt2"],"enumNames":["Option One","Option Two"]},"optional":{"type":"string","enum":["active","inactive","pending"]}},"required":["titled"]}"#,
            r#"{"type":"object","properties":{"titled":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"value3"}]},"legacy":{"type":"string","enum":["opt1","opt2"],"enumNames":["Option One","Option Two"],"default":"opt2"},"optional":{"type":"string","enum":["active","inactive","pending"]}},"required":["titled"]}"#,
        ]);
    }

    #[form(crate = crate)]
    struct AnyOf {
        name: String,
        #[arg(default, len(..=2))]
        untitled: Vec<Status>,
        #[arg(title = "Several", len(1..=3), default = [Titled::Value1].into())]
        titled: std::collections::BTreeSet<Titled>,
        legacy: Vec<Legacy>,
    }

    #[test]
    fn a_choice_of_several_values_is_encoded_or_refused_by_revision() {
        let [.., june, november, modern] = Revision::ALL;
        let expected = r#"{"type":"object","properties":{"name":{"type":"string"},"untitled":{"type":"array","maxItems":2,"items":{"type":"string","enum":["active","inactive","pending"]},"default":[]},"titled":{"type":"array","title":"Several","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"value3"}]},"default":["value1"]},"legacy":{"type":"array","items":{"anyOf":[{"const":"opt1","title":"Option One"},{"const":"opt2","title":"Option Two"}]}}},"required":["name","legacy"]}"#;
        assert_eq!(written::<AnyOf>(november).as_deref(), Ok(expected));
        assert_eq!(written::<AnyOf>(modern).as_deref(), Ok(expected));
        let refused = written::<AnyOf>(june).unwrap_err();
        assert!(refused.contains("`untitled`") && refused.contains(june.name()), "{refused}");
        let mut out = Vec::new();
        let mut params = ObjectWriter::begin(&mut out);
        assert!(super::form(&mut params, june, AnyOf::schema()).is_err());
        assert!(params.is_empty());
    }

    #[form(crate = crate)]
    #[serde(rename_all = "camelCase")]
    struct Bounds {
        /// Who it is
        #[arg(title = "Name", len(1..=80))]
        full_name: String,
        #[arg(format = "email")]
        email: String,
        #[arg(format = "date-time", len(..=40))]
        at: Option<String>,
        #[arg(range(1..))]
        count: u8,
        #[arg(range(-5..=500))]
        small: i8,
        #[arg(range(..=1.5))]
        ratio: f32,
        #[arg(range(0..=10))]
        level: f64,
    }

    #[test]
    fn all_revisions_write_bounds_formats_and_descriptions() {
        let all = r#"{"type":"object","properties":{"fullName":{"type":"string","title":"Name","description":"Who it is","minLength":1,"maxLength":80},"email":{"type":"string","format":"email"},"at":{"type":"string","maxLength":40,"format":"date-time"},"count":{"type":"integer","minimum":1,"maximum":255},"small":{"type":"integer","minimum":-5,"maximum":127},"ratio":{"type":"number","maximum":1.5},"level":{"type":"number","minimum":0,"maximum":10}},"required":["fullName","email","count","small","ratio","level"]}"#;
        check::<Bounds>([all, all]);
    }

    #[test]
    fn another_node_asks_a_question_as_the_node_of_the_task_does() {
        let tool = SamplingTool::new("weather").description("Tells the weather");
        let sampling = Sampling::ask("Rain?", 100).system("Be brief.").tool(tool).temperature(0.5);
        let (message, url) = ("See \"this\"".to_owned(), "https://example.com/?a=b".to_owned());
        for question in [
            Question::Form { message: message.clone(), schema: OneOf::schema(), reads: |_| Ok(()) },
            Question::Url { message, url, must_visit: false },
            Question::Sample(sampling.into()),
            Question::Sample(Sampling::ask("Sun?", 1).into()),
            Question::Roots,
        ] {
            let params = written_question(&question).unwrap();
            let needed = question.needed(true).iter().map(|name| (*name).into());
            let other = WrittenQuestion::read(question.method(), needed, &params).unwrap();
            let other = Question::Written(other.into());
            let [.., november, modern] = Revision::ALL;
            for (revision, id) in [(november, Some("7")), (modern, None)] {
                let id = id.filter(|_| question.page_url().is_some());
                let written = |question: &Question| {
                    let mut out = Vec::new();
                    let mut params = ObjectWriter::begin(&mut out);
                    super::question(&mut params, revision, question, id).unwrap();
                    params.end();
                    String::from_utf8(out).unwrap()
                };
                assert_eq!(written(&other), written(&question));
            }
            assert_eq!(other.page_url(), question.page_url());
            assert_eq!(other.is_roots(), question.is_roots());
            for client in [r#"{}"#, r#"{"elicitation":{"url":{}},"sampling":{}}"#] {
                let capabilities = crate::model::Meta(serde_json::from_str(client).unwrap());
                let client = crate::model::ClientInfo { capabilities, ..Default::default() };
                assert_eq!(other.missing(&client, true), question.missing(&client, true));
            }
        }
    }
}
