//! `/api/QUESTION`: what the page asks about the nodes of the store.

mod answer;
mod coordinates;
mod describe;
mod numbers;
mod plane;
mod profile;
mod sample;
mod statistics;
mod table;

use crate::address::Query;
use crate::colors;
use crate::fault::Fault;
use crate::nodes::Nodes;
use crate::reply::{ReplyBody, json, whole};
use crate::shared::Shared;
use answer::Answer;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Response, StatusCode};
use std::sync::Arc;

/// The media type of numbers with a head of JSON.
const NUMBERS: &str = "application/octet-stream";

type Ask = fn(&Nodes, &Query) -> Result<Answer, Fault>;

/// The questions.
const QUESTIONS: &[(&str, Ask)] = &[
    ("store", describe::store),
    ("children", describe::children),
    ("info", describe::info),
    ("attributes", describe::attributes),
    ("plane", plane::plane),
    ("histogram", plane::histogram),
    ("profile", profile::profile),
    ("coordinates", coordinates::coordinates),
    ("table", table::table),
    ("colormaps", |_, _| Ok(Answer::Json(colors::all()))),
];

/// Answers a question.
pub(crate) async fn answer(shared: &Arc<Shared>, name: &str, query: Query) -> Result<Response<ReplyBody>, Fault> {
    let Some((_, ask)) = QUESTIONS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = QUESTIONS.iter().map(|(name, _)| *name).collect();
        return Err(Fault::not_found(format!("found the question {name:?}, expected one of {}", names.join(", "))));
    };
    match shared.compute(move |nodes| ask(nodes, &query)).await?? {
        Answer::Json(value) => Ok(json(StatusCode::OK, value)),
        Answer::Bytes(bytes) => {
            let mut response = whole(StatusCode::OK, NUMBERS, bytes);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            Ok(response)
        }
    }
}
