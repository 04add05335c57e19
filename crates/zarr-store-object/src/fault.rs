//! Conversion of errors of requests to errors of the store.

use zarr_store::{Error, ErrorKind, Operation};

use crate::address::{Address, Protocol};
use crate::exchange::{Exchange, Problem};

/// Facts about a store for messages about its operations.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) address: Address,
    /// Region that requests are signed for.
    pub(crate) region: Option<String>,
    /// Strings that no message may contain.
    pub(crate) secrets: Vec<String>,
    /// Whether requests carry no credentials.
    pub(crate) anonymous: bool,
}

impl Subject {
    /// Returns the error of an operation on `key`, from the record of its requests, or from the error of object_store if nothing is
    /// recorded.
    pub(crate) fn error(
        &self,
        exchange: &Exchange,
        operation: Operation,
        key: &str,
        error: &object_store::Error,
    ) -> Error {
        let seen = exchange.seen();
        if let Some(problem) = &seen.problem {
            return self.refused(problem, &seen.tail(problem.kind()), operation, key);
        }
        if let Some(text) = &seen.credentials {
            let text = format!("no credentials: {text}; {}", self.advice());
            return self.failed(operation, key, ErrorKind::Denied, text);
        }
        if let Some(failure) = &seen.failure {
            return self.failed(operation, key, failure.kind, failure.text.clone() + &seen.tail(failure.kind));
        }
        drop(seen);
        let mut text = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text = format!("{text}: {cause_text}");
            }
            source = cause.source();
        }
        self.failed(operation, key, ErrorKind::Io, text)
    }

    /// Returns the error for a response that refuses a request. `tail` is added to its message.
    pub(crate) fn refused(&self, problem: &Problem, tail: &str, operation: Operation, key: &str) -> Error {
        let (status, text) = (problem.status, problem.text());
        if self.no_bucket(problem) {
            let text = format!("there is no {} {:?}: {text}", self.address.protocol.bucket(), self.address.bucket);
            return self.failed(operation, key, ErrorKind::NotFound, text);
        }
        let other_region = problem.region.as_ref().filter(|region| Some(*region) != self.region.as_ref());
        if self.address.protocol == Protocol::S3
            && (status.is_redirection() || status.as_u16() == 400)
            && let Some(region) = other_region
        {
            let found = self.region.as_deref().unwrap_or("us-east-1");
            let text = format!(
                "the bucket is in region {region}, the request was for {found}: give --store-option region={region} ({text})"
            );
            return self.failed(operation, key, ErrorKind::Argument, text);
        }
        if status.is_redirection() {
            let text = format!(
                "{text}, a redirect, which is not followed: give --store-option region=... or --store-option endpoint=..."
            );
            return self.failed(operation, key, ErrorKind::Argument, text);
        }
        let expired = [
            "ExpiredToken",
            "InvalidToken",
            "AuthorizationHeaderMalformed",
            "RequestTimeTooSkewed",
            "InvalidAuthenticationInfo",
        ];
        let kind = if problem.is(&expired) { ErrorKind::Denied } else { problem.kind() };
        let text = if kind == ErrorKind::Denied { format!("{text}; {}", self.advice()) } else { text + tail };
        self.failed(operation, key, kind, text)
    }

    /// Returns whether a response says that the bucket does not exist.
    pub(crate) fn no_bucket(&self, problem: &Problem) -> bool {
        problem.status.as_u16() == 404
            && problem.is(&[
                "NoSuchBucket",
                "ContainerNotFound",
                "ResourceNotFound",
                "AccountNotFound",
                "ContainerBeingDeleted",
            ])
            && !(self.address.protocol == Protocol::Azure && problem.is(&["BlobNotFound"]))
    }

    /// Returns advice for a caller whose request is refused.
    fn advice(&self) -> String {
        let mut advice = Vec::new();
        if !self.anonymous {
            advice.push("for a public bucket: --store-option anonymous=true".to_owned());
        }
        advice.push(format!(
            "credentials: {}, or the options of the same meaning",
            match self.address.protocol {
                Protocol::S3 => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN in the environment",
                Protocol::Gcs => "GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS in the environment",
                Protocol::Azure => "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN in the environment",
            }
        ));
        if self.address.protocol == Protocol::S3 {
            advice.push("for a bucket whose readers pay: --store-option requester_pays=true".to_owned());
        }
        advice.push("where values that are not there are refused: --store-option missing=403".to_owned());
        advice.join("; ")
    }

    pub(crate) fn failed(&self, operation: Operation, key: &str, kind: ErrorKind, text: String) -> Error {
        Error::failed(&self.address, operation, key, kind, self.redact(text))
    }

    /// Replaces secrets in a string by `***`.
    pub(crate) fn redact(&self, mut text: String) -> String {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "***");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::StatusCode;
    use reqwest::header::HeaderMap;

    fn refused(url: &str, status: u16, body: &str) -> (ErrorKind, String) {
        let address = Address::parse(url).expect("an address");
        let region = (address.protocol == Protocol::S3).then(|| "us-east-1".to_owned());
        let subject = Subject { address, region, secrets: vec!["SENTINEL".to_owned()], anonymous: false };
        let problem = Problem::new(StatusCode::from_u16(status).expect("a status"), &HeaderMap::new(), body.as_bytes());
        let error = subject.refused(&problem, "", Operation::Get, "a/b");
        assert!(error.to_string().ends_with(": get a/b"), "{error}");
        let text = std::error::Error::source(&error).expect("a reason").to_string();
        (error.kind(), text)
    }

    #[test]
    fn messages_say_what_to_do() {
        let code = |code: &str| format!("<Error><Code>{code}</Code><Message>of SENTINEL</Message></Error>");
        let (kind, text) = refused("s3://b/p", 404, &code("NoSuchBucket"));
        assert!(
            kind == ErrorKind::NotFound && text.starts_with("there is no bucket \"b\": ") && text.ends_with("of ***"),
            "{text}"
        );
        let (kind, text) = refused("az://b/p", 404, &code("ContainerNotFound"));
        assert!(kind == ErrorKind::NotFound && text.starts_with("there is no container \"b\""), "{text}");
        let (kind, text) = refused("s3://b/p", 403, &code("AccessDenied"));
        assert_eq!(kind, ErrorKind::Denied);
        for option in ["anonymous=true", "missing=403", "AWS_ACCESS_KEY_ID", "requester_pays=true"] {
            assert!(text.contains(option), "{option}: {text}");
        }
        let (kind, text) = refused(
            "s3://b/p",
            400,
            "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-3</Region></Error>",
        );
        assert!(kind == ErrorKind::Argument && text.contains("--store-option region=eu-west-3"), "{text}");
        for (status, kind) in [
            (503, ErrorKind::Throttled),
            (429, ErrorKind::Throttled),
            (504, ErrorKind::TimedOut),
            (500, ErrorKind::Transient),
            (400, ErrorKind::Io),
        ] {
            assert_eq!(refused("gs://b", status, "").0, kind, "{status}");
        }
        assert_eq!(refused("s3://b/p", 400, &code("ExpiredToken")).0, ErrorKind::Denied);
        assert_eq!(refused("s3://b/p", 307, "").0, ErrorKind::Argument);
    }
}
