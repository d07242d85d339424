//! What a name says about the value after it: `DB_PASSWORD`, `clientSecret`, `cache-key`.

/// What the value after a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A password, which a person may have chosen.
    Password,
    /// A key or a token, which is random.
    Secret,
}

/// A name, judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) kind: Kind,
    /// The name alone does not say that it is a secret: `key`, `cohere_key`, `pass`. The value has to be odder.
    pub(super) weak: bool,
    /// The name is that one word, and nothing beside it.
    pub(super) bare: bool,
}

/// Words for digests, identifiers and what is public.
const PUBLIC: &[&str] = &[
    "sha",
    "sha1",
    "sha256",
    "sha512",
    "md5",
    "hash",
    "digest",
    "checksum",
    "integrity",
    "etag",
    "commit",
    "revision",
    "rev",
    "fingerprint",
    "public",
    "uuid",
    "guid",
];

/// Further words that make a name something else, wherever they stand.
const NEVER: &[&str] = &[
    "hashes",
    "hashed",
    "pub",
    "publishable",
    "cache",
    "primary",
    "foreign",
    "partition",
    "sort",
    "idempotency",
    "translation",
    "i18n",
    "count",
    "length",
    "size",
    "limit",
    "max",
    "min",
    "expires",
    "expiry",
    "expiration",
    "ttl",
    "regex",
    "pattern",
    "placeholder",
    "label",
    "keyword",
    "keywords",
    "object",
    "routing",
    "correlation",
    "contract",
    "mint",
    "address",
    "algorithm",
    "alg",
    "encoding",
    "csrf",
    "kms",
    "signature",
    "thumbprint",
    "lookup",
    "group",
    "dedupe",
    "dedup",
    "row",
    "column",
    "composite",
    "unique",
    "index",
];

/// Words at the end of a name that make it the name of something about a secret.
const ENDS: &[&str] = &[
    "id",
    "ids",
    "url",
    "uri",
    "path",
    "file",
    "filename",
    "name",
    "names",
    "type",
    "types",
    "version",
    "field",
    "header",
    "param",
    "arn",
    "ref",
    "store",
    "manager",
    "provider",
    "policy",
    "prefix",
    "suffix",
    "format",
    "error",
    "errors",
    "status",
    "state",
    "usage",
    "reset",
    "endpoint",
    "host",
    "port",
    "user",
    "username",
    "email",
    "env",
    "class",
    "style",
    "color",
    "code",
    "budget",
    "window",
    "scope",
    "scopes",
    "mode",
    "validator",
    "strategy",
    "service",
    "function",
    "method",
    "model",
    "docs",
    "input",
    "form",
    "page",
    "text",
    "title",
    "message",
    "helper",
    "command",
    "cmd",
    "location",
    "source",
    "backend",
    "rotation",
    "prompt",
    "hint",
    "strength",
    "confirmation",
    "required",
    "enabled",
    "length",
    "bits",
    "binding",
    "bindings",
    "press",
    "down",
    "up",
    "board",
    "frame",
    "frames",
    "point",
    "points",
    "map",
    "vault",
    "kid",
];

const PASSWORDS: &[&str] =
    &["password", "passwd", "pwd", "passphrase", "passcode", "passwort", "psw", "userpass", "dbpass", "userpwd"];

const SECRETS: &[&str] = &[
    "secret",
    "token",
    "apikey",
    "credential",
    "credentials",
    "accesskey",
    "secretkey",
    "authtoken",
    "accesstoken",
    "privatekey",
    "authkey",
    "apitoken",
    "apisecret",
    "clientsecret",
    "appsecret",
    "appkey",
    "jwtsecret",
    "authorization",
    "licensekey",
    "encryptionkey",
    "signingkey",
    "pat",
    "bearer",
    "secretapikey",
    "refreshtoken",
    "webhooksecret",
    "sharedkey",
    "querykey",
    "insertkey",
    "writekey",
    "accountkey",
    "masterkey",
    "authtokens",
    "secretaccesskey",
    "deploykey",
    "apipassword",
    "sessiontoken",
    "bottoken",
    "accesskeyid",
    "accesskeysecret",
    "sharedaccesskey",
    "userkey",
    "integrationkey",
    "subscriptionkey",
    "personaltoken",
    "oauthtoken",
    "skey",
];

/// Words before `key` with which it is a secret.
const KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "authorization",
    "account",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "license",
    "master",
    "shared",
    "service",
    "app",
    "application",
    "storage",
    "admin",
    "deploy",
    "deployment",
    "session",
    "client",
    "subscription",
    "webhook",
    "ingest",
    "write",
    "insert",
    "integration",
    "consumer",
    "bot",
    "server",
    "user",
    "activation",
    "jwt",
    "cookie",
    "hmac",
    "aes",
    "preshared",
    "registration",
    "stream",
    "record",
];

/// Words before `key` with which it is the name of an entry.
const OTHER_KEYS: &[&str] = &[
    "config",
    "setting",
    "settings",
    "item",
    "node",
    "map",
    "dict",
    "json",
    "yaml",
    "entity",
    "event",
    "message",
    "resource",
    "asset",
    "state",
    "context",
    "query",
    "filter",
    "list",
    "array",
    "hash",
    "natural",
    "surrogate",
    "candidate",
    "parent",
    "child",
    "issue",
    "project",
    "data",
    "value",
    "input",
    "output",
    "option",
    "build",
    "test",
    "string",
    "template",
    "locale",
    "metric",
    "trace",
    "span",
    "job",
    "task",
    "queue",
    "topic",
    "shard",
    "range",
    "arrow",
    "enter",
    "tab",
    "shift",
    "hot",
    "meta",
];

/// What the value of `name` is, when it is one to keep. `before` is what stands before the name on its line.
pub(super) fn judge(name: &str, before: &str) -> Option<Judged> {
    let mut words = split(name);
    let joined = words.len() > 1;
    if !joined {
        // `API key: …`, `client secret = …`: the words before it belong to the name.
        let mut rest = before;
        for _ in 0..2 {
            let Some(shorter) = rest.strip_suffix([' ', '-']) else { break };
            let word =
                shorter.rsplit(|char: char| !char.is_ascii_alphanumeric() && char != '_').next().unwrap_or_default();
            if word.is_empty() || word.len() > 24 {
                break;
            }
            words.splice(0..0, split(word));
            rest = &shorter[..shorter.len() - word.len()];
        }
    }
    let last = words.last()?.as_str();
    let own = if joined { &words[..] } else { &words[words.len().saturating_sub(2)..] };
    if own.iter().any(|word| [PUBLIC, NEVER].iter().any(|list| list.contains(&word.as_str())))
        || ENDS.contains(&last) && own.len() > 1
    {
        return None;
    }
    let has = |known: &[&str]| own.iter().rposition(|word| known.contains(&word.as_str()));
    let pair = |first: &str, second: &str| own.windows(2).any(|pair| pair[0] == first && pair[1] == second);
    let bare = words.len() == 1;
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| last.len() > suffix.len() && last.ends_with(suffix));
    if has(PASSWORDS).is_some() || ends(&["password", "passwd"]) || pair("pass", "word") || pair("pass", "phrase") {
        return Some(Judged { kind: Kind::Password, weak: false, bare });
    }
    if matches!(last, "pass" | "pw") {
        return Some(Judged { kind: Kind::Password, weak: bare, bare });
    }
    if let Some(at) = has(SECRETS) {
        // `token` among other words that are not about it: `token_endpoint_auth` is settled by its end.
        let near_end = own.len() - at <= 3;
        return near_end.then_some(Judged { kind: Kind::Secret, weak: false, bare });
    }
    if let Some(at) = own.iter().rposition(|word| word == "key") {
        let of = at.checked_sub(1).map(|at| own[at].as_str());
        if of.is_some_and(|word| OTHER_KEYS.contains(&word)) {
            return None;
        }
        let strong = of.is_some_and(|word| KEYS.contains(&word));
        let near_end = own.len() - at <= 2;
        return near_end.then_some(Judged { kind: Kind::Secret, weak: !strong, bare });
    }
    if ends(&["secret", "token", "apikey", "accesskey", "secretkey", "privatekey"]) {
        return Some(Judged { kind: Kind::Secret, weak: false, bare });
    }
    // `bitmexkey`, but no `monkey`.
    let other = ["monkey", "turkey", "donkey", "hockey", "jockey", "whiskey", "hotkey", "mickey"].contains(&last);
    if last.len() >= 6 && last.ends_with("key") && !other {
        return Some(Judged { kind: Kind::Secret, weak: true, bare });
    }
    matches!(last, "auth" | "api" | "dsn" | "sas" | "license").then_some(Judged {
        kind: Kind::Secret,
        weak: true,
        bare,
    })
}

/// Whether what stands between a vendor's name and a value says that the value is a digest, an identifier or public.
pub(super) fn about_something_else(between: &[u8]) -> bool {
    const ALSO: &[&str] = &["blob", "tree", "raw", "version"];
    split(&String::from_utf8_lossy(between))
        .iter()
        .any(|word| [PUBLIC, ALSO].iter().any(|list| list.contains(&word.as_str())))
}

/// The words of a name, in lower case; humps of camel case are words, runs of capitals too.
fn split(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for at in 0..bytes.len() {
        let byte = bytes[at];
        let after_lower = at > 0 && (bytes[at - 1].is_ascii_lowercase() || bytes[at - 1].is_ascii_digit());
        let ends_run = at > 0
            && bytes[at - 1].is_ascii_uppercase()
            && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase)
            && bytes.get(at + 1..at + 3) != Some(b"s");
        if byte.is_ascii_uppercase() && (after_lower || ends_run) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte.to_ascii_lowercase()));
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let kind = |name: &str| judge(name, "").map(|judged| judged.kind);
        for name in ["DB_PASSWORD", "password", "pgPassword", "MYSQL_PWD", "SHOP_PASS", "React_App_Password"] {
            assert_eq!(kind(name), Some(Kind::Password), "{name}");
        }
        for name in [
            "AZURE_API_KEY",
            "clientSecret",
            "auth_token",
            "AWSSecretAccessKey",
            "cohere_key",
            "shodanSECRET",
            "apiKey",
        ] {
            assert_eq!(kind(name), Some(Kind::Secret), "{name}");
        }
        for name in [
            "cache-key",
            "token_id",
            "secretName",
            "password_hash",
            "PUBLIC_KEY",
            "sha256",
            "keyword",
            "author",
            "monkey",
        ] {
            assert_eq!(kind(name), None, "{name}");
        }
        assert!(judge("Key", "the API ").is_some_and(|judged| !judged.weak));
        assert!(judge("key", "the ").is_some_and(|judged| judged.weak));
    }
}
