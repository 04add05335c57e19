//! Credentials and settings of a profile in the files that the AWS command line and SDKs share.
//!
//! `~/.aws/credentials` has sections `[NAME]`, `~/.aws/config` has sections `[profile NAME]` and `[default]`. The sections of both
//! files form one profile; if both have a setting, the first file counts. The keys and the token count as one setting. (AWS SDKs and
//! Tools Reference Guide, "Shared config and credentials files".)

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Greatest size of the files in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Settings for other sources of credentials, which are not supported.
const OTHER_WAYS: [&str; 5] =
    ["sso_session", "sso_start_url", "credential_process", "role_arn", "web_identity_token_file"];

/// Settings that belong together: those of one section are not combined with those of another.
const KEYS: [&str; 3] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];

/// Settings of a profile.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) access_key_id: Option<String>,
    pub(super) secret_access_key: Option<String>,
    pub(super) session_token: Option<String>,
    pub(super) region: Option<String>,
    pub(super) endpoint_url: Option<String>,
}

/// Environment of a process, which determines the paths of the files and the default profile.
pub(super) struct Shared<'e> {
    environment: &'e dyn Fn(&str) -> Option<String>,
}

impl<'e> Shared<'e> {
    pub(super) fn new(environment: &'e dyn Fn(&str) -> Option<String>) -> Self {
        Self { environment }
    }

    /// Reads the profile `name`, or that of `AWS_PROFILE`, or the default profile. The default profile may be missing; a named profile
    /// may not.
    ///
    /// # Errors
    /// A message, without secrets, that says why the profile cannot be used.
    pub(super) fn profile(&self, name: Option<&str>) -> Result<Profile, String> {
        let set = |name: &str| (self.environment)(name).filter(|value| !value.is_empty());
        let named = name.map(str::to_owned).or_else(|| set("AWS_PROFILE")).or_else(|| set("AWS_DEFAULT_PROFILE"));
        let name = named.as_deref().unwrap_or("default");
        let home = || set("HOME").or_else(|| set("USERPROFILE")).map(|home| PathBuf::from(home).join(".aws"));
        let file =
            |variable: &str, in_home: &str| set(variable).map(PathBuf::from).or_else(|| Some(home()?.join(in_home)));
        let files = [
            (file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), vec![name.to_owned()]),
            (
                file("AWS_CONFIG_FILE", "config"),
                match name {
                    "default" => vec!["default".to_owned(), "profile default".to_owned()],
                    name => vec![format!("profile {name}")],
                },
            ),
        ];
        let mut settings: HashMap<String, String> = HashMap::new();
        let (mut found, mut has_keys, mut looked) = (false, false, Vec::new());
        for (path, sections) in files {
            let Some(path) = path else { continue };
            looked.push(path.display().to_string());
            let text = match read(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // The default profile is only looked for.
                Err(_) if named.is_none() => continue,
                Err(error) => return Err(format!("profile {name:?}: {}: {error}", path.display())),
            };
            for section in sections {
                let Some(mut section) = section_of(&text, &section) else { continue };
                found = true;
                if has_keys {
                    section.retain(|name, _| !KEYS.contains(&name.as_str()));
                }
                has_keys |= KEYS.iter().any(|name| section.get(*name).is_some_and(|value| !value.is_empty()));
                section.into_iter().for_each(|(name, value)| {
                    settings.entry(name).or_insert(value);
                });
            }
        }
        if named.is_some() && !found {
            return Err(format!("there is no profile {name:?} in {}", looked.join(" or ")));
        }
        let other = OTHER_WAYS.into_iter().find(|way| settings.contains_key(*way));
        let mut take = |name: &str| settings.remove(name).filter(|value| !value.is_empty());
        let profile = Profile {
            access_key_id: take("aws_access_key_id"),
            secret_access_key: take("aws_secret_access_key"),
            session_token: take("aws_session_token"),
            region: take("region"),
            endpoint_url: take("endpoint_url"),
        };
        if named.is_some() && profile.access_key_id.is_some() != profile.secret_access_key.is_some() {
            return Err(format!(
                "profile {name:?} has one of aws_access_key_id and aws_secret_access_key, expected both or neither"
            ));
        }
        match other {
            Some(way) if named.is_some() && profile.access_key_id.is_none() => Err(format!(
                "profile {name:?} has its credentials by {way}, which is not supported: put them into the environment with \
                 `aws configure export-credentials --format env --profile {name}`"
            )),
            _ => Ok(profile),
        }
    }
}

fn read(path: &PathBuf) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_SIZE).read_to_string(&mut text)?;
    Ok(text)
}

/// Parses the settings of a section; `None` if there is no such section. If a setting is repeated, the last one counts.
fn section_of(text: &str, section: &str) -> Option<HashMap<String, String>> {
    let mut settings: Option<HashMap<String, String>> = None;
    let mut is_inside = false;
    for line in text.lines() {
        // Indented lines are settings of a service within a setting.
        if line.starts_with([' ', '\t']) || line.trim().is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.split(']').next().unwrap_or_default();
            let words =
                |name: &str| name.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect::<Vec<_>>();
            is_inside = words(name) == words(section);
            if is_inside {
                settings.get_or_insert_default();
            }
            continue;
        }
        if let (true, Some((name, value)), Some(settings)) = (is_inside, line.split_once('='), settings.as_mut()) {
            settings.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "\
# a comment
[default]
aws_access_key_id = AKIDEFAULT
aws_secret_access_key=SENTINEL/=1

[lab]
aws_access_key_id=AKILAB
aws_secret_access_key = SENTINEL2
aws_session_token = SENTINEL3
";
    const CONFIG: &str = "\
[default]
region = eu-west-1
aws_session_token = SENTINEL4
[profile lab]
region = us-west-2
aws_access_key_id = AKIOTHER
endpoint_url = http://127.0.0.1:9000
s3 =
  max_concurrent_requests = 20
aws_access_key_id = other
[profile  people ]
sso_session = x
[profile \"odd name\"]
region=here
";

    fn profile(variables: &[(&str, &str)], name: Option<&str>) -> Result<Profile, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let files = folder.path().join(".aws");
        std::fs::create_dir(&files).expect("a folder");
        std::fs::write(files.join("credentials"), CREDENTIALS).expect("written");
        std::fs::write(files.join("config"), CONFIG).expect("written");
        let home = folder.path().to_str().expect("text").to_owned();
        let environment = |variable: &str| match variables.iter().find(|(name, _)| *name == variable) {
            Some((_, value)) => Some((*value).to_owned()),
            None => (variable == "HOME").then(|| home.clone()),
        };
        Shared::new(&environment).profile(name)
    }

    #[test]
    fn profiles_have_the_settings_of_both_files() {
        let text = |value: &str| Some(value.to_owned());
        let default = profile(&[], None).expect("a profile");
        assert_eq!((default.access_key_id, default.secret_access_key), (text("AKIDEFAULT"), text("SENTINEL/=1")));
        assert_eq!((default.region, default.session_token, default.endpoint_url), (text("eu-west-1"), None, None));
        for lab in [profile(&[("AWS_PROFILE", "lab")], None), profile(&[("AWS_PROFILE", "default")], Some("lab"))] {
            let lab = lab.expect("a profile");
            assert_eq!((lab.access_key_id, lab.session_token), (text("AKILAB"), text("SENTINEL3")));
            assert_eq!((lab.region, lab.endpoint_url), (text("us-west-2"), text("http://127.0.0.1:9000")));
        }
        assert_eq!(profile(&[], Some("odd name")).expect("a profile").region, text("here"));
    }

    #[test]
    fn a_named_profile_must_be_there_and_have_keys() {
        let refused = |variables: &[(&str, &str)], name| match profile(variables, name) {
            Ok(_) => panic!("{name:?} is refused"),
            Err(text) => {
                assert!(!text.contains("SENTINEL"));
                text
            }
        };
        assert!(refused(&[("AWS_PROFILE", "none")], None).contains("no profile \"none\" in "));
        assert!(refused(&[("AWS_CONFIG_FILE", "/no/file")], Some("people")).contains("/no/file"));
        let text = refused(&[], Some("people"));
        assert!(text.contains("sso_session") && text.contains("export-credentials"), "{text}");
        // Nobody asked for the default profile.
        let nothing = profile(&[("HOME", "/no/folder"), ("USERPROFILE", "/no/folder")], None).expect("nothing");
        assert!(nothing == Profile::default());
    }
}
