//! Requests to `/api/QUESTION`: questions of the page about nodes.

mod answer;
mod children;
mod coordinates;
mod describe;
mod float_elements;
mod image;
mod picture;
mod plane;
mod profile;
mod region;
mod statistics;
mod table;

use crate::address::Query;
use crate::answer_memory::Connection;
use crate::colors;
use crate::nodes::Nodes;
use crate::reply::{ReplyBody, json, whole};
use crate::request_error::RequestError;
use crate::server_state::ServerState;
use answer::ApiAnswer;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Response, StatusCode};
use std::sync::Arc;

/// Media type of answers that consist of a JSON head and numbers.
const NUMBERS: &str = "application/octet-stream";

type Ask = fn(&Nodes, &Query) -> Result<ApiAnswer, RequestError>;

/// Questions with their functions and accepted parameters.
const QUESTIONS: &[(&str, Ask, &[&str])] = &[
    ("store", describe::store, &[]),
    ("children", children::children, &["path", "offset", "limit"]),
    ("info", describe::info, &["path", "sizes"]),
    ("attributes", describe::attributes, &["path"]),
    (
        "plane",
        plane::plane,
        &["path", "y", "x", "y0", "y1", "x0", "x1", "at", "height", "width", "stored", "full", "level"],
    ),
    (
        "picture",
        picture::picture,
        &[
            "path", "y", "x", "y0", "y1", "x0", "x1", "at", "height", "width", "full", "level", "channels", "labels",
            "opacity",
        ],
    ),
    ("thumbnail", picture::thumbnail, &["path", "height", "width", "channels", "windows"]),
    ("profile", profile::profile, &["path", "axis", "at", "stored", "full"]),
    ("coordinates", coordinates::coordinates, &["path", "axis", "start", "step", "count"]),
    ("table", table::table, &["path", "y", "x", "y0", "y1", "x0", "x1", "at", "stored", "full"]),
    ("colormaps", |_, _| Ok(ApiAnswer::Json(colors::all())), &[]),
];

/// Answers the question `name`.
pub(crate) async fn answer(
    shared: &Arc<ServerState>,
    connection: &Arc<Connection>,
    name: &str,
    query: Query,
) -> Result<Response<ReplyBody>, RequestError> {
    let Some(&(_, ask, parameters)) = QUESTIONS.iter().find(|(known, ..)| *known == name) else {
        let names: Vec<&str> = QUESTIONS.iter().map(|(name, ..)| *name).collect();
        return Err(RequestError::not_found(format!(
            "found the question {name:?}, expected one of {}",
            names.join(", ")
        )));
    };
    query.check(parameters).map_err(|fault| fault.within(name))?;
    let (answer, working) = shared.compute(move |nodes| ask(nodes, &query)).await?;
    let mut response = match answer? {
        ApiAnswer::Json(value) => json(StatusCode::OK, value),
        ApiAnswer::Bytes(bytes) => {
            let mut response = whole(StatusCode::OK, NUMBERS, bytes);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    };
    // The next question is worked on once there is room for this answer.
    if let ReplyBody::Bytes(bytes) = response.body_mut() {
        let room = shared.held.room_for_answer(bytes.len() as u64).await?;
        *bytes = room.hold(connection, std::mem::take(bytes));
    }
    drop(working);
    Ok(response)
}
