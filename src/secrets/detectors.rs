//! The detectors, as data. One entry is one kind of secret; its formats are those that its vendor documents.
//!
//! To add one: an id, a title, a pattern, keywords without which it cannot match, the environment variable to use in
//! its place, and examples, as templates of `sample.rs`, so that no value stands in this source. Then its rank is what
//! its constructor says: [`token`] for a prefix that only this vendor has, [`vendor`] for a value that needs the
//! vendor's name before it. The tests run every example, with and without what makes it one.

use super::plausible::{self, random};
use super::proof;
use super::{Detector, Kind, Place, Rank};

const MANAGER: &str =
    "keep it in a secret manager (op read, vault kv get, aws secretsmanager) and name only the variable here";
const HELPER: &str = "let the tool's own login or credential helper keep it";
const IDENTITY: &str = "use a short-lived identity (SSO, workload identity, OIDC) without a stored key";
const AGENT: &str = "keep the key in an agent or a key store, and name only its file here";
const NETRC: &str = "use a credential helper, or a file that only you can read, and leave user and password out";

/// A value with a prefix of its own: reported wherever it stands, unless it is a placeholder.
const fn token(
    id: &'static str,
    title: &'static str,
    pattern: &'static str,
    keywords: &'static [&'static str],
    instead: &'static str,
    hits: &'static [&'static str],
    misses: &'static [&'static str],
) -> Detector {
    Detector {
        id,
        title,
        pattern,
        keywords,
        place: Place::Start,
        rank: Rank::Token,
        needs: None,
        entropy: Some(2.5),
        check: None,
        proof: None,
        instead,
        advice: MANAGER,
        hits,
        misses,
    }
}

/// A random value of a vendor's length and alphabet, on the same line after the vendor's name.
const fn vendor(
    id: &'static str,
    title: &'static str,
    pattern: &'static str,
    keywords: &'static [&'static str],
    instead: &'static str,
    hits: &'static [&'static str],
    misses: &'static [&'static str],
) -> Detector {
    let base = token(id, title, pattern, keywords, instead, hits, misses);
    Detector { rank: Rank::Vendor, check: Some(random), ..base }
}

impl Detector {
    const fn near(self, before: usize, after: usize) -> Self {
        Self { place: Place::Near { before, after }, ..self }
    }

    const fn checked(self, check: fn(&str) -> bool) -> Self {
        Self { check: Some(check), ..self }
    }

    const fn proven(self, proof: fn(&str) -> bool) -> Self {
        Self { proof: Some(proof), ..self }
    }

    const fn structure(self) -> Self {
        Self { rank: Rank::Structure, entropy: None, ..self }
    }

    /// A prefix that several vendors share: whoever knows better goes first.
    const fn shared(self) -> Self {
        Self { rank: Rank::Vendor, check: Some(random), ..self }
    }

    const fn advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    const fn needs(self, byte: u8) -> Self {
        Self { needs: Some(byte), ..self }
    }

    const fn any_entropy(self) -> Self {
        Self { entropy: None, ..self }
    }
}

/// A vendor's name, the rest of the name that it begins, up to three more words, a sign, and the value.
macro_rules! after {
    ($value:literal) => {
        concat!(
            r#"(?i:[\w.-]{0,40}?(?:[ \t]{1,2}[\w.-]{1,24}){0,3}?[\\"'`\])*]{0,4}[ \t]{0,4}"#,
            r#"(?:=>|->|:=|={1,3}|!=|:|,|>|\||\?\?|\|\||\bis\b)?[ \t]{0,4}[\\"'`({*]{0,4}(?:(?:bearer|token|basic|ssws)[ \t])?)"#,
            "(",
            $value,
            ")"
        )
    };
}

/// What stands between a name and its value.
macro_rules! assigned {
    () => {
        concat!(
            "(?:",
            // A pair: `name: X, value: Y`.
            r#"\\?["'`]?[, \t]{0,4}(?:\r?\n[ \t-]{0,24})?\\?["']?(?i:value)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}(?:"#,
            r#"\\?"((?:[^"\\\n]|\\[^"\n])+)|'((?:[^'\\\n]|\\[^'\n])+)|([^\s"'`,;<>|)\]}]+))"#,
            // A variable of Terraform, with its default.
            r#"|"[ \t]{0,2}\{\s{1,24}(?:type\s{0,8}=\s{0,8}\w{1,12}\s{1,24})?default\s{0,8}=\s{0,4}"([^"\n]+)"#,
            // A sign, with the closing quote of the name before it and a type after it.
            r#"|\\?["'`]?[)\]]{0,2}[*_]{0,2}(?:[ \t]{0,16}(?::[ \t]{0,4}[&A-Za-z][\w<>&' ]{0,20}?[ \t]?=|=>|->|:=|={1,3}|!={1,2}"#,
            r#"|::?|\?\?|\|\|?|or\b)|>(?:\{(?:[\w.-]{1,24}[ ]){0,2})?)[*_]{0,2}[ \t]{0,16}(?:\(|[bruf]{1,2})?(?:"#,
            r#"\\?"((?:[^"\\\n]|\\[^"\n])+)|'((?:[^'\\\n]|\\[^'\n])+)|`([^`\n]+)|([^\s"'`,;<>|)\]}]+))"#,
            // The second argument of a call.
            r#"|\\?["']?[ \t]{0,2},[ \t]{0,4}[bruf]?(?:\\?"((?:[^"\\\n]|\\[^"\n])+)|'((?:[^'\\\n]|\\[^'\n])+))"#,
            // Nothing but a space.
            r#"|[ \t]{1,4}(?:(?:is|was|to|as)[ \t:]{1,2})?(?:"([^"\s]+)|'([^'\s]+)|`([^`\s]+)|([^\s"'`,;<>|)\]}]+))"#,
            ")"
        )
    };
}

/// Services whose keys have no prefix, and whose names are no words of English.
const SERVICES: &[&str] = &[
    "abstractapi",
    "abuseipdb",
    "accuweather",
    "adafruit",
    "airbrake",
    "airship",
    "alchemyapi",
    "alienvault",
    "amplitude",
    "anypoint",
    "apideck",
    "apiflash",
    "apilayer",
    "apitemplate",
    "appcenter",
    "appfollow",
    "appsflyer",
    "appveyor",
    "avaza",
    "aylien",
    "baremetrics",
    "baseten",
    "bitly",
    "bitmex",
    "blazemeter",
    "blynk",
    "browserstack",
    "bscscan",
    "bugsnag",
    "buttercms",
    "calendarific",
    "calendly",
    "campayn",
    "censys",
    "chartmogul",
    "chatbotkit",
    "clarifai",
    "clearbit",
    "clickhelp",
    "clicksend",
    "clockify",
    "cloudconvert",
    "cloudinary",
    "cloudmersive",
    "cloudsmith",
    "codacy",
    "codeclimate",
    "coinapi",
    "coinlayer",
    "coinmarketcap",
    "contentstack",
    "convertkit",
    "currencylayer",
    "customerio",
    "cypress_record",
    "debounce_",
    "delighted",
    "deviantart",
    "docparser",
    "docusign",
    "dronahq",
    "droneci",
    "drone_token",
    "eagleeye",
    "elasticemail",
    "etherscan",
    "eventbrite",
    "everhour",
    "exchangerate",
    "extractorapi",
    "fastforex",
    "feedly",
    "fileio",
    "finicity",
    "finnhub",
    "flickr",
    "flightaware",
    "flightstats",
    "flutterwave",
    "foursquare",
    "freshbooks",
    "freshdesk",
    "freshservice",
    "fullstory",
    "geoapify",
    "geocodio",
    "getresponse",
    "giphy",
    "gitter",
    "glassnode",
    "gumroad",
    "happyscribe",
    "helpscout",
    "hereapi",
    "holidayapi",
    "honeycomb",
    "huggingface",
    "hunter.io",
    "hunterio",
    "iexcloud",
    "iexapis",
    "infura",
    "insightly",
    "ip2location",
    "ipapi",
    "ipdata",
    "ipgeolocation",
    "ipinfo",
    "ipstack",
    "iterable",
    "jotform",
    "jumpcloud",
    "keycdn",
    "kickbox",
    "klaviyo",
    "knowbe4",
    "kraken_",
    "kucoin",
    "languagelayer",
    "lemlist",
    "linkpreview",
    "livestorm",
    "locationiq",
    "loggly",
    "logz.io",
    "logzio",
    "lokalise",
    "loginradius",
    "mailboxlayer",
    "mailerlite",
    "mailjet",
    "mailmodo",
    "mailsac",
    "mapquest",
    "marketstack",
    "mattermost",
    "mediastack",
    "meistertask",
    "mesibo",
    "messagebird",
    "metaapi",
    "mindmeister",
    "mixpanel",
    "mockaroo",
    "moosend",
    "moralis",
    "mux_token",
    "newsapi",
    "newscatcher",
    "nftport",
    "nylas",
    "nytimes",
    "oanda",
    "omnisend",
    "oncehub",
    "onesignal",
    "onfleet",
    "opencagedata",
    "opengraphr",
    "opentok",
    "openuv",
    "openweather",
    "optimizely",
    "owlbot",
    "packagecloud",
    "pandadoc",
    "pastebin",
    "paystack",
    "pendo_",
    "pepipost",
    "pinata",
    "pipedream",
    "pipedrive",
    "pivotaltracker",
    "plivo",
    "polygon_",
    "positionstack",
    "prodpad",
    "pushbullet",
    "pusher",
    "qualaroo",
    "qubole",
    "rapidapi",
    "raygun",
    "reallysimple",
    "rebrandly",
    "refiner",
    "restpack",
    "retellai",
    "rocketreach",
    "rollbar",
    "runscope",
    "salesblink",
    "salesforce",
    "saucelabs",
    "sauce_access",
    "scrapeowl",
    "scraperapi",
    "scraperbox",
    "scrapestack",
    "scrapfly",
    "scrapingant",
    "scrapingbee",
    "screenshotapi",
    "semaphore",
    "sendbird",
    "sendinblue",
    "serpapi",
    "serpstack",
    "shodan",
    "shotstack",
    "shutterstock",
    "simplenote",
    "sinch_",
    "smartsheet",
    "smartystreets",
    "spoonacular",
    "spotify",
    "stackhawk",
    "statuscake",
    "storyblok",
    "stormglass",
    "strava",
    "streak_",
    "sumologic",
    "survicate",
    "swiftype",
    "tatumio",
    "taxjar",
    "teamgate",
    "teamwork",
    "telnyx",
    "testingbot",
    "ticketmaster",
    "tiingo",
    "timezonedb",
    "toggl",
    "tomorrowio",
    "tomtom",
    "travelpayouts",
    "trello",
    "tyntec",
    "ubidots",
    "unsplash",
    "uploadcare",
    "uptimerobot",
    "upcdatabase",
    "urlscan",
    "userstack",
    "vatlayer",
    "vbout",
    "veriphone",
    "virustotal",
    "visualcrossing",
    "voicegain",
    "vouchery",
    "vultr",
    "vyte",
    "walkscore",
    "weatherbit",
    "weatherstack",
    "webflow",
    "webscraper",
    "wepay",
    "whoxy",
    "wistia",
    "worldweather",
    "wrike",
    "yelp_",
    "youneedabudget",
    "zendesk",
    "zenrows",
    "zenscrape",
    "zerobounce",
    "zerotier",
    "zipbooks",
    "zipcodeapi",
    "zonka",
];

/// All detectors. The order means nothing; ranks decide between two that see the same value.
pub static DETECTORS: &[Detector] = &[
    // Clouds.
    token("aws-access-key-id", "AWS access key ID", r"(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|A3T[A-Z0-9][A-Z0-9]{16})", &["akia", "asia", "abia", "acca", "a3t"], "AWS_PROFILE", &["aws_access_key_id = AKIA{u16}", "`ASIA{u16}`"], &["AKIAIOSFODNN7EXAMPLE", "AKIA{x16}", "the Asia-Pacific region"]).advice(IDENTITY),
    vendor("aws-secret-access-key", "AWS secret access key", after!(r"[A-Za-z0-9/+]{40}"), &["aws_secret", "secretaccesskey", "secret_access_key", "secret-access-key", "secret access key", "aws_sec", "awssecret", "aws-secret", "secret key"], "AWS_PROFILE", &["AWS_SECRET_ACCESS_KEY={b40}", "\"SecretAccessKey\": \"{b40}\""], &["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}"]).advice(IDENTITY),
    token("aws-session-token", "AWS session token", r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu|FQoGZXIvYXdz|FQoDYXdz)[A-Za-z0-9/+=]{60,}", &["fwogzxivyxdz", "iqojb3jpz2lu", "fqogzxivyxdz", "fqodyxdz"], "AWS_PROFILE", &["IQoJb3JpZ2lu{b200}"], &["IQoJb3JpZ2lu..."]).advice(IDENTITY),
    token("aws-bedrock-key", "Amazon Bedrock API key", r"(?:ABSK[A-Za-z0-9+/]{80,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{28,})", &["absk", "bedrock-api-key-"], "AWS_BEARER_TOKEN_BEDROCK", &["ABSK{b120}", "bedrock-api-key-{b40}"], &["bedrock-api-key-{x32}"]).advice(IDENTITY),
    token("aws-mws-token", "Amazon MWS token", r"amzn\.mws\.[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["amzn.mws."], "MWS_AUTH_TOKEN", &["amzn.mws.{U1}"], &["amzn.mws.xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    token("aws-appsync-key", "AWS AppSync key", r"da2-[a-z0-9]{26}", &["da2-"], "APPSYNC_API_KEY", &["x-api-key: da2-{l26}"], &["da2-{x26}"]),
    token("gcp-api-key", "Google API key", r"AIza[A-Za-z0-9_-]{35}", &["aiza"], "GOOGLE_API_KEY", &["key=AIza{s35}", "GEMINI_API_KEY=AIza{s35}"], &["AIza{x35}", "AIzaSy..."]),
    token("gcp-api-key-base64", "Google API key in base 64", r"QUl6YV[A-Za-z0-9+/]{44,48}={0,2}", &["qul6yv"], "GOOGLE_API_KEY", &["QUl6YV{b46}"], &["QUl6YVN5"]),
    token("gcp-oauth-secret", "Google OAuth client secret", r"GOCSPX-[A-Za-z0-9_-]{28}", &["gocspx-"], "GOOGLE_CLIENT_SECRET", &["GOCSPX-{s28}"], &["GOCSPX-{x28}"]),
    token("gcp-access-token", "Google OAuth access token", r"ya29\.[A-Za-z0-9_-]{20,}", &["ya29."], "GOOGLE_APPLICATION_CREDENTIALS", &["Bearer ya29.{s80}"], &["ya29.", "ya29.{x40}"]).advice("run gcloud auth application-default login"),
    token("gcp-refresh-token", "Google OAuth refresh token", r"1//0[A-Za-z0-9_-]{40,}", &["1//0"], "GOOGLE_APPLICATION_CREDENTIALS", &["1//0{s80}"], &["1//0"]).advice("run gcloud auth application-default login"),
    token("gcp-service-account", "Google service account key", r#""private_key"\s{0,4}:\s{0,4}"(-----BEGIN [A-Z ]{0,16}PRIVATE KEY-----(?:[^"-]|-[^"-])+(?:-----END [A-Z ]{0,16}PRIVATE KEY-----(?:\\n)?)?)"#, &["\"private_key\""], "GOOGLE_APPLICATION_CREDENTIALS", &["\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMII{b61}\\n{b64}\\n-----END PRIVATE KEY-----\\n\","], &["\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n...\\n-----END PRIVATE KEY-----\\n\""]).checked(proof::key_block).any_entropy().advice(IDENTITY),
    token("azure-storage-key", "Azure storage account key", r"(?i:accountkey|account_key|account-key|storage_key|storagekey|storageaccountkey|sharedkey)[\\\x22' \t:=]{1,6}([A-Za-z0-9/+]{86}==)", &["accountkey", "account_key", "account-key", "storage_key", "storagekey", "sharedkey"], "AZURE_STORAGE_CONNECTION_STRING", &["DefaultEndpointsProtocol=https;AccountName=a;AccountKey={b86}==;EndpointSuffix=core.windows.net"], &["AccountKey=<account-key>;"]).advice(IDENTITY),
    token("azure-identifiable-key", "Azure key", r"(?:[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,26}(?:==)?|[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|ARm|\+ABa|APIM|AIoT)[A-Za-z0-9+/]{5,6}(?:==)?|[A-Za-z0-9+/]{33}(?:AIoT|\+ASb|\+AEh|\+ARm|AzCa)[A-P][A-Za-z0-9+/]{5}=|[A-Za-z0-9]{42}(?:AzSe|AzFu)[A-Za-z0-9]{6,8}(?:==)?|[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5})", &["jqqj99", "+ast", "acdb", "aiot", "azse", "azca", "azfu", "+acr", "+asb", "+aeh", "+arm"], "AZURE_API_KEY", &["OPENAI_KEY={w52}JQQJ99{u26}", "{w42}AzSeB{w5}"], &["JQQJ99"]).near(76, 40).advice(IDENTITY),
    token("azure-devops-token", "Azure DevOps token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", &["azdo"], "AZURE_DEVOPS_EXT_PAT", &["{w76}AZDO{w4}"], &["AZDO"]).near(76, 8).advice(HELPER),
    token("azure-client-secret", "Azure client secret", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", &["8q~", "7q~"], "AZURE_CLIENT_SECRET", &["{w3}8Q~{s34}"], &["8Q~", "xxx8Q~{x34}"]).near(4, 40).advice(IDENTITY),
    token("azure-sas", "Azure shared access signature", r"sig=([A-Za-z0-9%+/]{43,72}(?:=|%3[dD]))", &["sig="], "AZURE_STORAGE_SAS_TOKEN", &["https://a.blob.core.windows.net/c?sv=2022-11-02&ss=b&se=2030-01-01&sig={w43}%3D"], &["?sig=<signature>"]).advice(IDENTITY),
    vendor("azure-shared-access-key", "Azure shared access key", after!(r"[A-Za-z0-9+/]{43}="), &["sharedaccesskey", "azconfig.io", "hubaccesskey", "servicebus"], "AZURE_SERVICEBUS_CONNECTION_STRING", &["Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b43}="], &["SharedAccessKey=<key>"]).advice(IDENTITY),
    vendor("azure-key", "Azure key", after!(r"[0-9a-f]{32}|[a-z2-7]{52}|[A-Za-z0-9]{84}|[A-Za-z0-9]{52}"), &["azure", "ocp-apim", "openai_key", "cognitive", "vsts", "ado_pat", "personalaccesstoken"], "AZURE_API_KEY", &["export AZURE_API_KEY=\"{h32}\"", "azure_pat = {k52}"], &["azure commit {h40}", "AZURE_API_KEY=<your key>"]).advice(IDENTITY),
    token("digitalocean-token", "DigitalOcean token", r"do[opr]_v1_[0-9a-f]{64}", &["dop_v1_", "doo_v1_", "dor_v1_"], "DIGITALOCEAN_ACCESS_TOKEN", &["dop_v1_{h64}"], &["dop_v1_{x64}"]).advice(HELPER),
    token("alibaba-access-key", "Alibaba Cloud access key", r"LTAI[A-Za-z0-9]{12,20}", &["ltai"], "ALIBABA_CLOUD_ACCESS_KEY_ID", &["LTAI{w20}"], &["LTAI{x20}"]).advice(IDENTITY),
    token("tencent-secret-id", "Tencent Cloud secret ID", r"AKID[A-Za-z0-9]{32}", &["akid"], "TENCENTCLOUD_SECRET_ID", &["AKID{w32}"], &["AKID{x32}"]).advice(IDENTITY),
    token("scaleway-key", "Scaleway access key", r"SCW[A-Z0-9]{17}", &["scw"], "SCW_ACCESS_KEY", &["SCW{u17}"], &["SCW{x17}", "SCW_ACCESS_KEY"]),
    token("yandex-key", "Yandex Cloud key", r"(?:AQVN[A-Za-z0-9_-]{35,38}|YC[A-Za-z0-9_-]{38}|y0_[A-Za-z0-9_-]{55,}|t1\.[A-Za-z0-9_-]+[=]{0,2}\.[A-Za-z0-9_-]{86}[=]{0,2})", &["aqvn", "y0_", "t1."], "YC_TOKEN", &["AQVN{s36}", "y0_{s58}"], &["t1.micro"]),
    token("heroku-key", "Heroku API key", r"HRKU-[A-Za-z0-9_-]{36,64}", &["hrku-"], "HEROKU_API_KEY", &["HRKU-{U1}"], &["HRKU-{x36}"]).advice(HELPER),
    vendor("heroku-key-uuid", "Heroku API key", after!(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"), &["heroku_api", "heroku_key", "heroku-api", "heroku api", "heroku.api", "herokuapikey"], "HEROKU_API_KEY", &["HEROKU_API_KEY={U1}"], &["HEROKU_APP=my-app"]).checked(plausible::uuid).advice(HELPER),
    token("netlify-token", "Netlify token", r"nf[pcoub]_[A-Za-z0-9]{36,40}", &["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], "NETLIFY_AUTH_TOKEN", &["nfp_{w36}"], &["nfp_{x36}"]).advice(HELPER),
    token("vercel-token", "Vercel token", r"vc[pikarw]_[A-Za-z0-9]{24,60}", &["vcp_", "vci_", "vck_", "vca_", "vcr_", "vcw_"], "VERCEL_TOKEN", &["vcp_{w56}"], &["vcp_{x56}"]).advice(HELPER),
    vendor("vercel-token-old", "Vercel token", after!(r"[A-Za-z0-9]{24}"), &["vercel_token", "vercel_api", "vercel token", "vercel-token", "now_token", "verceltoken"], "VERCEL_TOKEN", &["VERCEL_TOKEN={w24}"], &["VERCEL_TOKEN=$VERCEL_TOKEN"]).advice(HELPER),
    token("cloudflare-token", "Cloudflare token", r"cf(?:at|ut|k)_[A-Za-z0-9]{40,56}", &["cfat_", "cfut_", "cfk_"], "CLOUDFLARE_API_TOKEN", &["cfut_{w48}"], &["cfut_{x48}"]).advice(HELPER),
    token("cloudflare-origin-key", "Cloudflare origin CA key", r"v1\.0-[0-9a-f]{20,24}-[0-9a-f]{100,146}|v1\.0-[0-9a-f]{64}-[0-9a-f]{60,}(?:-[0-9a-f]{60,})?", &["v1.0-"], "CLOUDFLARE_API_USER_SERVICE_KEY", &["v1.0-{h24}-{h146}"], &["v1.0-beta"]),
    vendor("cloudflare-key", "Cloudflare key", after!(r"[A-Za-z0-9_-]{40}|[0-9a-f]{37}"), &["cloudflare", "cf_api", "cf_token", "cf_key"], "CLOUDFLARE_API_TOKEN", &["CLOUDFLARE_API_TOKEN={s40}", "cf_api_key: {h37}"], &["CLOUDFLARE_API_TOKEN=your-token"]).advice(HELPER),
    vendor("fastly-token", "Fastly token", after!(r"[A-Za-z0-9_-]{32}"), &["fastly"], "FASTLY_API_TOKEN", &["FASTLY_API_TOKEN={s32}"], &["fastly_service_id={x22}"]),
    token("supabase-key", "Supabase key", r"(?:sbp_(?:v0_|oauth_)?[0-9a-z]{40}|sb_secret_[A-Za-z0-9_-]{30,40})", &["sbp_", "sb_secret_"], "SUPABASE_ACCESS_TOKEN", &["sbp_{h40}", "sb_secret_{s31}"], &["sb_secret_{x31}", "sb_publishable_{s31}"]),
    token("planetscale-credential", "PlanetScale credential", r"pscale_(?:tkn|pw|oauth|app)_[A-Za-z0-9_.=-]{30,64}", &["pscale_"], "PLANETSCALE_SERVICE_TOKEN", &["pscale_tkn_{s43}", "pscale_pw_{s43}"], &["pscale_tkn_{x43}"]),
    token("neon-key", "Neon API key", r"napi_[a-z0-9]{64}", &["napi_"], "NEON_API_KEY", &["napi_{l64}"], &["napi_create_function", "napi_{x64}"]),
    token("render-key", "Render API key", r"rnd_[A-Za-z0-9]{24,40}", &["rnd_"], "RENDER_API_KEY", &["rnd_{w28}"], &["rnd_{x28}"]),
    token("fly-token", "Fly.io token", r"(?:fm[12][ar]?_[A-Za-z0-9+/=_-]{60,}|fo1_[A-Za-z0-9_-]{40,})", &["fm1_", "fm2_", "fm1r_", "fm1a_", "fo1_"], "FLY_API_TOKEN", &["FlyV1 fm2_{b120}", "fo1_{s43}"], &["fm2_{x60}"]).advice(HELPER),
    token("deno-token", "Deno Deploy token", r"dd[pwo]_[A-Za-z0-9]{36}", &["ddp_", "ddw_", "ddo_"], "DENO_DEPLOY_TOKEN", &["ddp_{w36}"], &["ddp_{x36}"]),
    token("linode-token", "Linode token", r"linode_[A-Za-z0-9]{40,}", &["linode_"], "LINODE_TOKEN", &["linode_{w64}"], &["linode_instance_type"]).checked(random),
    token("ibm-cloud-key", "IBM Cloud key", r"(?i:ibm|iam|cos)[\w .-]{0,24}(?i:key|token)[\\\x22' \t:=]{1,8}([A-Za-z0-9_-]{44})", &["ibm_", "ibm-", "ibmcloud", "iam_api"], "IBMCLOUD_API_KEY", &["IBM_CLOUD_API_KEY={s44}"], &["IBM_CLOUD_API_KEY=your-key"]).checked(random).advice(IDENTITY),
    // Code hosts and forges.
    token("github-token", "GitHub token", r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|ghs_[A-Za-z0-9_]{0,24}eyJ[A-Za-z0-9_.-]{40,})", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "GITHUB_TOKEN", &["ghp_{w36}", "https://x-access-token:ghs_{w36}@github.com/a/b", "\\nghp_{w36}"], &["ghp_{x36}", "ghp_...", "ghp_<token>"]).proven(proof::crc_in_base62).advice("run gh auth login; the git credential helper keeps it"),
    token("github-fine-grained-token", "GitHub fine-grained token", r"github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{55,64}", &["github_pat_"], "GITHUB_TOKEN", &["github_pat_{w22}_{w59}"], &["github_pat_{x22}_{x59}"]).advice("run gh auth login; the git credential helper keeps it"),
    token("gitlab-token", "GitLab token", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-(?:t\d_)?[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?", &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-"], "GITLAB_TOKEN", &["glpat-{s20}", "PRIVATE-TOKEN: glpat-{s27}.01.{l9}"], &["glpat-{x20}", "glpat-..."]).advice("run glab auth login, or use the CI job token"),
    token("gitlab-registration-token", "GitLab runner registration token", r"GR1348941[A-Za-z0-9_-]{20}", &["gr1348941"], "CI_SERVER_TOKEN", &["GR1348941{s20}"], &["GR1348941{x20}"]),
    token("bitbucket-token", "Bitbucket token", r"(?:ATBB[A-Za-z0-9]{32}|ATCTT3[A-Za-z0-9_=-]{60,}|BBDC-[A-Za-z0-9+/]{36,48})", &["atbb", "atctt3", "bbdc-"], "BITBUCKET_TOKEN", &["ATBB{w32}", "BBDC-{b44}"], &["ATBB{x32}"]).advice(HELPER),
    vendor("bitbucket-secret", "Bitbucket secret", after!(r"[A-Za-z0-9_-]{32}|[A-Za-z0-9_=-]{64}"), &["bitbucket"], "BITBUCKET_TOKEN", &["bitbucket_client_secret = \"{w32}\""], &["bitbucket-pipelines.yml"]).advice(HELPER),
    token("gitea-token", "Gitea token", r"gitea_[0-9a-f]{40}", &["gitea_"], "GITEA_TOKEN", &["gitea_{h40}"], &["gitea_admin"]),
    token("segment-token", "Segment token", r"sgp_[A-Za-z0-9]{64}", &["sgp_"], "SEGMENT_TOKEN", &["sgp_{w64}"], &["sgp_{x64}"]),
    token("sourcegraph-token", "Sourcegraph token", r"sg[pd]_(?:[A-Za-z0-9]{16}_|local_)?[A-Za-z0-9_]{38,64}", &["sgp_", "sgd_"], "SRC_ACCESS_TOKEN", &["sgp_{h16}_{h40}", "sgp_{h40}"], &["sgp_{x40}"]),
    // Package registries.
    token("npm-token", "npm token", r"npm_[A-Za-z0-9]{36}", &["npm_"], "NPM_TOKEN", &["//registry.npmjs.org/:_authToken=npm_{w36}"], &["npm_config_registry", "npm_{x36}"]).proven(proof::crc_in_base62).advice("run npm login, or use trusted publishing"),
    token("pypi-token", "PyPI token", r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,}", &["pypi-age"], "TWINE_PASSWORD", &["pypi-AgEIcHlwaS5vcmc{s120}"], &["pypi-AgEIcHlwaS5vcmc...", "pypi-AgEIcHlwaS5vcmc{x60}"]).advice("use trusted publishing, or keyring"),
    token("crates-io-token", "crates.io token", r"cio[A-Za-z0-9]{32}", &["cio"], "CARGO_REGISTRY_TOKEN", &["cio{w32}"], &["cio{x32}", "cio"]).checked(random).advice("run cargo login with a credential provider"),
    token("rubygems-key", "RubyGems key", r"rubygems_[0-9a-f]{48}", &["rubygems_"], "GEM_HOST_API_KEY", &["rubygems_{h48}"], &["rubygems_{x48}"]).advice("use trusted publishing"),
    token("nuget-key", "NuGet key", r"oy2[a-z0-9]{43}", &["oy2"], "NUGET_API_KEY", &["oy2{k43}"], &["oy2{x43}"]),
    token("docker-hub-token", "Docker Hub token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,36}", &["dckr_"], "DOCKER_PASSWORD", &["docker login -p dckr_pat_{s27}"], &["dckr_pat_{x27}"]).advice("use docker login with a credential helper"),
    token("docker-swarm-token", "Docker Swarm token", r"SWM(?:TKN-\d-[a-z0-9]{50}-[a-z0-9]{25}|KEY-\d-[A-Za-z0-9+/]{43})", &["swmtkn-", "swmkey-"], "SWARM_TOKEN", &["SWMTKN-1-{l50}-{l25}", "SWMKEY-1-{w43}"], &["SWMTKN-1-{x50}-{x25}"]),
    token("artifactory-token", "Artifactory token", r"(?:AKCp[A-Za-z0-9]{60,80}|cmVmdGtu[A-Za-z0-9]{56}|AP[235ABC][A-Za-z0-9]{60,80})", &["akcp", "cmvmdgtu"], "JFROG_ACCESS_TOKEN", &["X-JFrog-Art-Api: AKCp{w69}", "cmVmdGtu{w56}"], &["AKCp{x69}"]).advice("run jf login"),
    token("clojars-token", "Clojars token", r"CLOJARS_[0-9a-f]{60}", &["clojars_"], "CLOJARS_PASSWORD", &["CLOJARS_{h60}"], &["CLOJARS_USERNAME"]),
    token("packagist-token", "Packagist token", r"packagist_(?:uct|oct|act|ut|ot|at)_[0-9a-f]{68,72}", &["packagist_"], "COMPOSER_AUTH", &["packagist_uct_{h68}"], &["packagist_url"]),
    // Models and agents.
    token("anthropic-key", "Anthropic key", r"sk-ant-(?:[a-z]{2,6}\d{2,3}-)?[A-Za-z0-9_-]{20,}", &["sk-ant-"], "ANTHROPIC_API_KEY", &["ANTHROPIC_API_KEY=sk-ant-api03-{s93}AA", "sk-ant-oat01-{s95}"], &["sk-ant-...", "sk-ant-api03-{x95}", "sk-ant-your-key-here-please"]),
    token("openai-key", "OpenAI key", r"sk-(?:(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})", &["sk-"], "OPENAI_API_KEY", &["OPENAI_API_KEY=sk-proj-{s120}", "sk-{w20}T3BlbkFJ{w20}"], &["sk-...", "sk-proj-{x48}", "OPENAI_API_KEY=sk-your-key", "task-management-for-teams-2024"]),
    token("openrouter-key", "OpenRouter key", r"sk-or-(?:v1-)?[0-9a-f]{40,64}", &["sk-or-"], "OPENROUTER_API_KEY", &["sk-or-v1-{h64}"], &["sk-or-v1-{x64}"]),
    token("langfuse-key", "Langfuse secret key", r"sk-lf-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["sk-lf-"], "LANGFUSE_SECRET_KEY", &["sk-lf-{U1}"], &["sk-lf-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    token("sk-key", "API key", r"(?:csk|sk)-[A-Za-z0-9_-]{24,160}", &["sk-", "csk-"], "API_KEY", &["DEEPSEEK_API_KEY=sk-{h32}", "sk-{w48}"], &["sk-{x32}", "sk-learn-pipeline-with-many-steps"]).shared(),
    token("huggingface-token", "Hugging Face token", r"(?:hf_[A-Za-z0-9]{30,40}|api_org_[A-Za-z]{34})", &["hf_", "api_org_"], "HF_TOKEN", &["hf_{a34}"], &["hf_{x34}", "hf_home_directory_for_models_cache"]).checked(random).advice("run huggingface-cli login"),
    token("replicate-token", "Replicate token", r"r8_[A-Za-z0-9]{37}", &["r8_"], "REPLICATE_API_TOKEN", &["r8_{w37}"], &["r8_{x37}"]),
    token("groq-key", "Groq key", r"gsk_[A-Za-z0-9]{40,56}", &["gsk_"], "GROQ_API_KEY", &["gsk_{w52}"], &["gsk_{x52}", "gsk_..."]),
    token("xai-key", "xAI key", r"xai-[A-Za-z0-9]{60,90}", &["xai-"], "XAI_API_KEY", &["xai-{w80}"], &["xai-{x80}"]),
    token("perplexity-key", "Perplexity key", r"pplx-[A-Za-z0-9]{40,60}", &["pplx-"], "PERPLEXITY_API_KEY", &["pplx-{w48}"], &["pplx-{x48}"]),
    token("fireworks-key", "Fireworks key", r"fw_[A-Za-z0-9]{20,32}", &["fw_"], "FIREWORKS_API_KEY", &["fw_{w24}"], &["fw_{x24}"]).checked(random),
    token("together-key", "Together AI key", r"tgp_v1_[A-Za-z0-9_-]{40,48}", &["tgp_v1_"], "TOGETHER_API_KEY", &["tgp_v1_{s43}"], &["tgp_v1_{x43}"]),
    token("elevenlabs-key", "ElevenLabs key", r"sk_[0-9a-f]{40,64}", &["sk_"], "ELEVENLABS_API_KEY", &["sk_{h48}"], &["sk_{x48}"]),
    token("nvidia-key", "NVIDIA key", r"nvapi-[A-Za-z0-9_-]{54,72}", &["nvapi-"], "NVIDIA_API_KEY", &["nvapi-{s64}"], &["nvapi-{x64}"]),
    token("voyage-key", "Voyage AI key", r"pa-[A-Za-z0-9_-]{43}", &["pa-"], "VOYAGE_API_KEY", &["pa-{s43}"], &["pa-{x43}"]).checked(random),
    token("tavily-key", "Tavily key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,48}", &["tvly-"], "TAVILY_API_KEY", &["tvly-{w32}", "tvly-dev-{w32}"], &["tvly-{x32}", "tvly-YOUR_API_KEY"]),
    token("firecrawl-key", "Firecrawl key", r"fc-[0-9a-f]{32}", &["fc-"], "FIRECRAWL_API_KEY", &["fc-{h32}"], &["fc-{x32}", "fc-YOUR_API_KEY"]),
    token("langsmith-key", "LangSmith key", r"(?:lsv2_(?:pt|sk)_[0-9a-z]{32}_[0-9a-z]{10}|ls__[0-9a-f]{32})", &["lsv2_", "ls__"], "LANGSMITH_API_KEY", &["lsv2_pt_{h32}_{h10}"], &["lsv2_pt_{x32}_{x10}"]),
    token("pinecone-key", "Pinecone key", r"pcsk_[A-Za-z0-9_]{50,80}", &["pcsk_"], "PINECONE_API_KEY", &["pcsk_{w6}_{w63}"], &["pcsk_{x60}"]),
    token("jina-key", "Jina AI key", r"jina_[A-Za-z0-9_]{40,70}", &["jina_"], "JINA_API_KEY", &["jina_{h32}{w28}"], &["jina_{x60}", "jina_embeddings"]),
    token("llamacloud-key", "LlamaCloud key", r"llx-[A-Za-z0-9_-]{40,60}", &["llx-"], "LLAMA_CLOUD_API_KEY", &["llx-{w48}"], &["llx-{x48}"]),
    token("runpod-key", "RunPod key", r"rpa_[A-Z0-9]{36,48}", &["rpa_"], "RUNPOD_API_KEY", &["rpa_{u42}"], &["rpa_{x42}"]),
    token("e2b-key", "E2B key", r"e2b_[0-9a-f]{40}", &["e2b_"], "E2B_API_KEY", &["e2b_{h40}"], &["e2b_{x40}"]),
    token("key-hex", "API key", r"key_[0-9a-f]{28,128}", &["key_"], "API_KEY", &["key_{h64}"], &["key_{x64}", "key_facade"]).shared(),
    token("cursor-key", "Cursor key", r"crsr_[0-9a-f]{60,72}", &["crsr_"], "CURSOR_API_KEY", &["crsr_{h64}"], &["crsr_{x64}"]),
    token("context7-key", "Context7 key", r"ctx7sk-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["ctx7sk-"], "CONTEXT7_API_KEY", &["ctx7sk-{U1}"], &["ctx7sk-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    token("friendli-token", "Friendli token", r"flp_[A-Za-z0-9]{40,64}", &["flp_"], "FRIENDLI_TOKEN", &["flp_{w46}"], &["flp_{x46}"]),
    token("coze-token", "Coze token", r"pat_[A-Za-z0-9]{60,68}", &["pat_"], "COZE_API_TOKEN", &["pat_{w64}"], &["pat_{x64}"]),
    token("coderabbit-key", "CodeRabbit key", r"cr-[0-9a-f]{54,64}", &["cr-"], "CODERABBIT_API_KEY", &["cr-{h58}"], &["cr-{x58}"]),
    token("wandb-key", "Weights & Biases key", r"wandb_v1_[A-Za-z0-9_]{60,90}", &["wandb_v1_"], "WANDB_API_KEY", &["wandb_v1_{w77}"], &["wandb_v1_{x77}"]).advice("run wandb login"),
    vendor("wandb-key-old", "Weights & Biases key", after!(r"[0-9a-f]{40}"), &["wandb"], "WANDB_API_KEY", &["WANDB_API_KEY={h40}"], &["wandb commit {h40}"]).advice("run wandb login"),
    vendor("mistral-key", "Mistral key", after!(r"[A-Za-z0-9]{32}"), &["mistral"], "MISTRAL_API_KEY", &["MISTRAL_API_KEY={w32}"], &["mistral-large-2411"]),
    vendor("cohere-key", "Cohere key", after!(r"[A-Za-z0-9]{40}"), &["cohere", "co_api_key"], "COHERE_API_KEY", &["COHERE_API_KEY={w40}"], &["cohere.embed-english-v3"]),
    vendor("deepgram-key", "Deepgram key", after!(r"[0-9a-f]{40}"), &["deepgram"], "DEEPGRAM_API_KEY", &["DEEPGRAM_API_KEY={h40}"], &["deepgram commit {h40}"]),
    vendor("assemblyai-key", "AssemblyAI key", after!(r"[0-9a-f]{32}"), &["assemblyai", "assembly_ai", "aai_"], "ASSEMBLYAI_API_KEY", &["ASSEMBLYAI_API_KEY={h32}"], &["assemblyai md5 {h32}"]),
    // Chat and mail.
    token("slack-token", "Slack token", r"xox(?:e\.xox[bp]-\d-[A-Za-z0-9-]{40,}|[abceoprs]-[A-Za-z0-9-]{16,}|d-[A-Za-z0-9%/+=-]{30,})", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], "SLACK_BOT_TOKEN", &["xoxb-{d12}-{d13}-{w24}", "xoxe.xoxp-1-{w150}"], &["xoxb-your-token", "xoxb-{x12}-{x12}-{x24}"]),
    token("slack-app-token", "Slack app token", r"xapp-\d-[A-Za-z0-9]{8,}-\d{8,}-[A-Za-z0-9]{32,80}", &["xapp-"], "SLACK_APP_TOKEN", &["xapp-1-A{u10}-{d13}-{h64}"], &["xapp-your-token"]),
    token("slack-webhook", "Slack webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Z0-9]{8,}/[A-Za-z0-9/]{24,})", &["hooks.slack.com/"], "SLACK_WEBHOOK_URL", &["https://hooks.slack.com/services/T{u9}/B{u10}/{w24}"], &["https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "https://hooks.slack.com/services/..."]),
    token("discord-webhook", "Discord webhook", r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{17,20}/([A-Za-z0-9_-]{58,80})", &["discord.com/api/", "discordapp.com/api/"], "DISCORD_WEBHOOK_URL", &["https://discord.com/api/webhooks/{d18}/{s68}"], &["https://discord.com/api/webhooks/ID/TOKEN"]),
    token("discord-token", "Discord bot token", r"(?:[MNO][A-Za-z0-9]{22,27}\.[A-Za-z0-9_-]{5,7}\.[A-Za-z0-9_-]{26,40}|mfa\.[A-Za-z0-9_-]{80,})", &["mta", "mte", "mti", "mtm", "mtq", "mty", "mtg", "mtk", "mtc", "mtu", "njc", "nzm", "nzq", "nzu", "nzy", "odm", "odq", "odg", "odk", "mfa."], "DISCORD_TOKEN", &["MTA{w23}.{w6}.{s38}"], &["MTA{w23}"]).checked(random),
    vendor("discord-secret", "Discord secret", after!(r"[A-Za-z0-9_-]{32}|[0-9a-f]{64}"), &["discord"], "DISCORD_TOKEN", &["discord_client_secret = {s32}"], &["discord_channel_id={d18}"]),
    token("telegram-token", "Telegram bot token", r"\d{8,10}:AA[A-Za-z0-9_-]{32,36}", &[":aa"], "TELEGRAM_BOT_TOKEN", &["{d10}:AA{s33}", "https://api.telegram.org/bot{d9}:AA{s33}/getMe"], &["123456:AAAA"]).near(10, 40),
    token("teams-webhook", "Teams webhook", r"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/[0-9a-f-]{36}@[0-9a-f-]{36}/(?:IncomingWebhook|JenkinsCI|[A-Za-z]{2,32})/([0-9a-zA-Z]{32}/[0-9a-f-]{36})", &["webhook.office.com/", "outlook.office.com/", "outlook.office365.com/"], "TEAMS_WEBHOOK_URL", &["https://a.webhook.office.com/webhookb2/{U1}@{U1}/IncomingWebhook/{h32}/{U1}"], &["https://outlook.office.com/webhook/..."]),
    token("zapier-webhook", "Zapier webhook", r"hooks\.zapier\.com/hooks/catch/(\d{5,}/[A-Za-z0-9]{5,})", &["hooks.zapier.com/"], "ZAPIER_WEBHOOK_URL", &["https://hooks.zapier.com/hooks/catch/{d8}/{l7}/"], &["https://hooks.zapier.com/hooks/catch/123/abc"]).any_entropy(),
    token("twilio-key", "Twilio API key", r"(?:SK[0-9a-f]{32}|SK[0-9A-F]{32})", &["sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf"], "TWILIO_API_KEY", &["SK{h32}"], &["SK{x32}"]),
    vendor("twilio-secret", "Twilio secret", after!(r"[0-9a-f]{32}|[A-Za-z0-9]{32}"), &["twilio"], "TWILIO_AUTH_TOKEN", &["TWILIO_AUTH_TOKEN={h32}"], &["TWILIO_AUTH_TOKEN=your_auth_token"]),
    token("sendgrid-key", "SendGrid key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", &["sg."], "SENDGRID_API_KEY", &["SG.{s22}.{s43}"], &["SG.{x22}.{x43}"]),
    token("mailgun-key", "Mailgun key", r"(?:key|pubkey)-[0-9a-f]{32}", &["key-"], "MAILGUN_API_KEY", &["key-{h32}"], &["key-{x32}", "key-value"]),
    token("mailgun-key-new", "Mailgun key", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}", &["mailgun"], "MAILGUN_API_KEY", &["MAILGUN_API_KEY={h32}-{h8}-{h8}"], &["mailgun"]).near(64, 96),
    vendor("mailgun-secret", "Mailgun secret", after!(r"[0-9a-f]{72}|[0-9a-f]{32}"), &["mailgun"], "MAILGUN_API_KEY", &["mailgun_api_key={h32}"], &["mailgun_domain=mg.example.com"]),
    token("mailchimp-key", "Mailchimp key", r"[0-9a-zA-Z]{32}-[ur][sx]\d{1,2}", &["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"], "MAILCHIMP_API_KEY", &["{h32}-us12"], &["{x32}-us12", "aws-us1"]).near(32, 2).checked(random),
    vendor("mandrill-key", "Mandrill key", after!(r"(?:md-)?[A-Za-z0-9_-]{22}"), &["mandrill"], "MANDRILL_API_KEY", &["MANDRILL_API_KEY={s22}"], &["mandrill-template-name"]),
    token("brevo-key", "Brevo key", r"x(?:keysib|smtpsib)-[0-9a-f]{64}-[A-Za-z0-9]{16}", &["xkeysib-", "xsmtpsib-"], "BREVO_API_KEY", &["xkeysib-{h64}-{w16}"], &["xkeysib-{x64}-{x16}"]),
    token("resend-key", "Resend key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{23,26}", &["re_"], "RESEND_API_KEY", &["re_{w8}_{w24}"], &["re_{x8}_{x24}", "re_12345678_"]).checked(random),
    vendor("postmark-token", "Postmark token", after!(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), &["postmark"], "POSTMARK_SERVER_TOKEN", &["POSTMARK_SERVER_TOKEN={U1}"], &["POSTMARK_SERVER_TOKEN=your-token"]).checked(plausible::uuid),
    token("intercom-token", "Intercom token", r"dG9rO[A-Za-z0-9+/=]{40,}", &["dg9ro"], "INTERCOM_ACCESS_TOKEN", &["dG9rO{b50}"], &["dG9rO"]),
    token("lark-token", "Lark token", r"[ut]-[A-Za-z0-9_-]{24,}", &["larksuite", "lark_", "feishu"], "LARK_ACCESS_TOKEN", &["lark_token=\"u-{w22}_{w4}\""], &["lark_app_id"]).near(0, 96).checked(random),
    // Money.
    token("stripe-key", "Stripe key", r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9_=-]{16,250}", &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"], "STRIPE_SECRET_KEY", &["sk_live_{w24}", "rk_test_{w99}"], &["sk_test_...", "sk_test_{x24}", "sk_test_your_key_here", "pk_live_{w24}"]).checked(random).advice("run stripe login"),
    token("stripe-webhook-secret", "Stripe webhook secret", r"whsec_[A-Za-z0-9+/=]{24,100}", &["whsec_"], "STRIPE_WEBHOOK_SECRET", &["whsec_{w32}"], &["whsec_...", "whsec_{x32}"]),
    token("square-token", "Square token", r"(?:EAAA[A-Za-z0-9_-]{56,68}|(?:sandbox-)?sq0(?:atp|csp|atb|acsp)-[A-Za-z0-9_-]{22,43})", &["eaaa", "sq0atp-", "sq0csp-", "sq0atb-", "sandbox-sq0"], "SQUARE_ACCESS_TOKEN", &["EAAA{s60}", "sq0csp-{s43}"], &["sq0atp-{x22}", "sq0idp-{s22}"]),
    token("braintree-token", "Braintree token", r"access_token\$(?:production|sandbox)\$[0-9a-z]{12,24}\$[0-9a-f]{32}", &["access_token$"], "BRAINTREE_ACCESS_TOKEN", &["access_token$production${l16}${h32}"], &["access_token$production$..."]),
    vendor("paypal-secret", "PayPal secret", after!(r"E[A-Z0-9][A-Za-z0-9_-]{78}|[A-Za-z0-9_-]{80}"), &["paypal"], "PAYPAL_CLIENT_SECRET", &["PAYPAL_CLIENT_SECRET=E{u1}{s78}"], &["PAYPAL_CLIENT_SECRET=your-secret"]),
    token("shopify-token", "Shopify token", r"shp(?:at|ca|pa|ss|tka|ua|rk)_[0-9a-fA-F]{32}", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"], "SHOPIFY_ACCESS_TOKEN", &["shpat_{h32}"], &["shpat_{x32}"]),
    token("razorpay-key", "Razorpay key", r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}", &["rzp_live_", "rzp_test_"], "RAZORPAY_KEY_SECRET", &["rzp_live_{w14}"], &["rzp_test_{x14}"]),
    token("flutterwave-key", "Flutterwave key", r"FLWSECK(?:_TEST|_PROD|-test|-live)?-[A-Za-z0-9]{12,34}(?:-X)?", &["flwseck"], "FLW_SECRET_KEY", &["FLWSECK-{h32}-X"], &["FLWSECK_TEST-{x32}-X"]),
    token("plaid-token", "Plaid token", r"(?:access|public|link)-(?:sandbox|development|production)-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["access-sandbox-", "access-development-", "access-production-"], "PLAID_ACCESS_TOKEN", &["access-sandbox-{U1}"], &["access-sandbox-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    vendor("plaid-secret", "Plaid secret", after!(r"[0-9a-f]{30}|[a-z0-9]{30}"), &["plaid"], "PLAID_SECRET", &["PLAID_SECRET={h30}"], &["PLAID_CLIENT_ID=your-id"]),
    token("adyen-key", "Adyen key", r"AQE[A-Za-z0-9+/]{30,}[=]{0,2}(?:-[A-Za-z0-9+/=^&$%!(){}|<>,.;~-]{20,})?", &["aqe"], "ADYEN_API_KEY", &["AQE{b80}"], &["AQE"]).checked(random),
    token("gocardless-token", "GoCardless token", r"(?:live|sandbox)_[A-Za-z0-9_=-]{40}", &["gocardless"], "GOCARDLESS_ACCESS_TOKEN", &["GOCARDLESS_ACCESS_TOKEN=live_{s40}"], &["gocardless_environment=live"]).near(0, 96),
    token("easypost-key", "EasyPost key", r"EZ[AT]K[A-Za-z0-9]{54}", &["ezak", "eztk"], "EASYPOST_API_KEY", &["EZAK{w54}"], &["EZAK{x54}"]),
    token("shippo-token", "Shippo token", r"shippo_(?:live|test)_[0-9a-f]{40}", &["shippo_"], "SHIPPO_API_TOKEN", &["shippo_live_{h40}"], &["shippo_live_{x40}"]),
    token("duffel-token", "Duffel token", r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}", &["duffel_"], "DUFFEL_ACCESS_TOKEN", &["duffel_test_{s43}"], &["duffel_test_{x43}"]),
    token("coinbase-key", "Coinbase key name", r"organizations/[0-9a-f-]{36}/apiKeys/[0-9a-f-]{36}", &["/apikeys/"], "COINBASE_API_KEY", &["organizations/{U1}/apiKeys/{U1}"], &["organizations/{org}/apiKeys/{id}"]).near(51, 37),
    // Watching.
    token("new-relic-key", "New Relic key", r"(?:NRAK-[A-Z0-9]{20,32}|NRI[IQ]-[A-Za-z0-9_-]{28,36}|NRRA-[0-9a-f]{36,48}|NRAA-[0-9a-f]{24,30})", &["nrak-", "nrii-", "nriq-", "nrra-", "nraa-"], "NEW_RELIC_API_KEY", &["NRAK-{u27}", "NRII-{s32}"], &["NRAK-{x27}"]),
    token("new-relic-license", "New Relic license key", r"[A-Za-z0-9]{30,40}(?:NRAL|NRJS)", &["nral"], "NEW_RELIC_LICENSE_KEY", &["{h36}NRAL", "eu01xx{h30}NRAL"], &["{x36}NRAL"]).near(40, 0),
    token("pixie-key", "Pixie key", r"px-(?:dep|api)-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["px-dep-", "px-api-"], "PX_DEPLOY_KEY", &["px-dep-{U1}"], &["px-api-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    token("grafana-token", "Grafana token", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}", &["glsa_"], "GRAFANA_TOKEN", &["glsa_{w32}_{h8}"], &["glsa_{x32}_00000000"]).proven(proof::crc_in_hex),
    token("grafana-cloud-token", "Grafana Cloud token", r"(?:glc_[A-Za-z0-9+/]{32,}={0,3}|eyJrIjoi[A-Za-z0-9+/]{40,}={0,2})", &["glc_", "eyjrijoi"], "GRAFANA_CLOUD_TOKEN", &["glc_{b80}", "eyJrIjoi{b80}"], &["glc_{x40}"]),
    token("sentry-token", "Sentry token", r"sntry(?:s_eyJ[A-Za-z0-9+/=_-]{60,}|[ui]_[0-9a-f]{60,64})", &["sntrys_", "sntryu_", "sntryi_"], "SENTRY_AUTH_TOKEN", &["sntrys_eyJ{b120}_{b43}", "sntryu_{h64}"], &["sntryu_{x64}"]),
    token("sentry-dsn-secret", "Sentry DSN with a secret", r"https?://[0-9a-f]{32}:([0-9a-f]{32})@[\w.-]{0,60}sentry\.io/\d+", &["sentry.io/"], "SENTRY_DSN", &["https://{h32}:{h32}@sentry.io/{d6}"], &["https://{h32}@o1.ingest.sentry.io/1"]).near(140, 20),
    vendor("sentry-key", "Sentry token", after!(r"[0-9a-f]{64}"), &["sentry"], "SENTRY_AUTH_TOKEN", &["SENTRY_AUTH_TOKEN={h64}"], &["sentry release sha {h64}"]),
    vendor("datadog-key", "Datadog key", after!(r"[0-9a-f]{40}|[0-9a-f]{32}"), &["datadog", "dd_api", "dd_app", "dd-api", "dd_secret", "dd_key", "dd-app"], "DD_API_KEY", &["DD_API_KEY={h32}", "datadog_app_key: {h40}"], &["datadog agent sha256 {h64}"]),
    vendor("pagerduty-key", "PagerDuty key", after!(r"(?:u\+|y_|e\+)[A-Za-z0-9_+-]{18}|[0-9a-f]{32}|[A-Za-z0-9_+-]{20}"), &["pagerduty", "pager_duty", "pd_token", "pd_api"], "PAGERDUTY_TOKEN", &["PAGERDUTY_TOKEN=u+{w18}", "pagerduty_key: {h32}"], &["pagerduty_service=infra"]),
    token("pagerduty-token", "PagerDuty token", r"pdus\+_[A-Za-z0-9_]{6}_[A-Za-z0-9-]{30,40}", &["pdus+"], "PAGERDUTY_TOKEN", &["pdus+_{w6}_{h36}"], &["pdus+"]),
    token("dynatrace-token", "Dynatrace token", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", &["dt0c", "dt0s", "dt0a"], "DT_API_TOKEN", &["dt0c01.{u24}.{u64}"], &["dt0c01.{x24}.{x64}"]),
    token("sonar-token", "SonarQube token", r"sq[pua]_[0-9a-f]{40}", &["squ_", "sqp_", "sqa_"], "SONAR_TOKEN", &["squ_{h40}"], &["squ_{x40}"]),
    vendor("sonar-token-old", "SonarQube token", after!(r"[0-9a-f]{40}"), &["sonar.login", "sonar_token", "sonar.token", "sonar_login", "sonarlogin", "sonarcloud_token"], "SONAR_TOKEN", &["-Dsonar.login={h40}"], &["sonar.login=$SONAR_TOKEN"]),
    token("posthog-key", "PostHog key", r"ph[xasrc]_[A-Za-z0-9]{32,60}", &["phx_", "pha_", "phs_", "phr_"], "POSTHOG_PERSONAL_API_KEY", &["phx_{w43}"], &["phx_{x43}"]),
    token("launchdarkly-key", "LaunchDarkly key", r"(?:sdk|api|mob)-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["sdk-", "api-", "mob-"], "LAUNCHDARKLY_SDK_KEY", &["sdk-{U1}"], &["sdk-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "api-reference"]),
    token("stackhawk-key", "StackHawk key", r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}", &["hawk."], "HAWK_API_KEY", &["hawk.{w20}.{w20}"], &["hawk.{x20}.{x20}"]),
    // Identity.
    vendor("okta-token", "Okta token", after!(r"00[A-Za-z0-9_-]{40}|[A-Za-z0-9_-]{40,42}"), &["okta", "ssws"], "OKTA_API_TOKEN", &["Authorization: SSWS 00{s40}", "OKTA_API_TOKEN=00{s40}"], &["okta_domain=dev.okta.com"]),
    vendor("auth0-secret", "Auth0 secret", after!(r"[A-Za-z0-9_-]{64,86}"), &["auth0"], "AUTH0_CLIENT_SECRET", &["AUTH0_CLIENT_SECRET={s64}"], &["AUTH0_DOMAIN=a.auth0.com"]),
    token("onepassword-service-token", "1Password service account token", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}", &["ops_eyj"], "OP_SERVICE_ACCOUNT_TOKEN", &["ops_eyJ{b250}"], &["ops_eyJ..."]),
    token("onepassword-secret-key", "1Password secret key", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}", &["a3-"], "OP_SECRET_KEY", &["A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}"], &["A3-XXXXXX-XXXXXX-XXXXX-XXXXX-XXXXX-XXXXX"]).advice("run op signin"),
    token("vault-token", "Vault token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}", &["hvs.", "hvb.", "hvr."], "VAULT_TOKEN", &["hvs.{s24}", "hvb.{s120}"], &["hvs.{x24}"]).advice("run vault login"),
    vendor("vault-token-old", "Vault token", after!(r"[sbr]\.[A-Za-z0-9]{24,}"), &["vault_token", "vault_client", "x-vault-token", "vault token", "vault-token"], "VAULT_TOKEN", &["VAULT_TOKEN=s.{w24}"], &["VAULT_TOKEN=s.xxxx"]).advice("run vault login"),
    token("terraform-token", "Terraform Cloud token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,76}", &[".atlasv1."], "TF_TOKEN_app_terraform_io", &["{w14}.atlasv1.{s67}"], &["{x14}.atlasv1.{x67}"]).near(14, 80).advice("run terraform login"),
    token("pulumi-token", "Pulumi token", r"pul-[0-9a-f]{40}", &["pul-"], "PULUMI_ACCESS_TOKEN", &["pul-{h40}"], &["pul-{x40}"]).advice("run pulumi login"),
    token("doppler-token", "Doppler token", r"dp\.(?:pt|ct|sa|scim|audit|st(?:\.[a-z0-9_-]{2,35})?)\.[A-Za-z0-9]{40,44}", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "DOPPLER_TOKEN", &["dp.st.dev.{w43}", "dp.pt.{w43}"], &["dp.pt.{x43}"]).advice("run doppler login"),
    token("infisical-token", "Infisical token", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}", &["infisical"], "INFISICAL_TOKEN", &["INFISICAL_TOKEN=st.{h24}.{h32}.{h32}"], &["infisical st.{x24}"]).near(0, 140).advice("run infisical login"),
    token("tailscale-key", "Tailscale key", r"tskey-(?:[a-z]+-)?[A-Za-z0-9]{6,}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]+)?", &["tskey-"], "TS_AUTHKEY", &["tskey-auth-{w12}CNTRL-{w32}"], &["tskey-auth-{x12}-{x32}"]),
    token("ngrok-token", "ngrok token", r"2[A-Za-z0-9]{26}_[A-Za-z0-9]{21}", &["ngrok"], "NGROK_AUTHTOKEN", &["ngrok config add-authtoken 2{w26}_{w21}"], &["ngrok http 8080"]).near(0, 96),
    token("defined-networking-key", "Defined Networking key", r"dnkey-[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52}", &["dnkey-"], "DEFINED_API_KEY", &["dnkey-{u26}-{u52}"], &["dnkey-{x26}-{x52}"]),
    token("nkey-seed", "NATS seed", r"S[UAONCX][A-Z2-7]{56}", &["sua", "saa"], "NATS_NKEY", &["SUA{K55}"], &["SUA"]).checked(random),
    // Data.
    token("databricks-token", "Databricks token", r"(?:dapi|dose|dkea)[0-9a-f]{32}(?:-\d)?", &["dapi", "dose", "dkea"], "DATABRICKS_TOKEN", &["dapi{h32}", "dapi{h32}-2"], &["dapi{x32}", "dapiDataGetTop"]).advice("run databricks auth login"),
    vendor("snowflake-secret", "Snowflake secret", after!(r"eyJ[A-Za-z0-9_.-]{60,}|[A-Za-z0-9_-]{40,}"), &["snowflake"], "SNOWFLAKE_PASSWORD", &["SNOWFLAKE_TOKEN={s60}"], &["snowflake_account=xy12345"]),
    vendor("confluent-secret", "Confluent secret", after!(r"cflt[A-Za-z0-9+/]{60}|[A-Za-z0-9+/]{64}"), &["confluent"], "CONFLUENT_CLOUD_API_SECRET", &["CONFLUENT_CLOUD_API_SECRET={b64}"], &["confluent_cluster=lkc"]),
    vendor("algolia-key", "Algolia key", after!(r"[0-9a-f]{32}|[A-Za-z0-9]{32}"), &["algolia"], "ALGOLIA_API_KEY", &["ALGOLIA_API_KEY={h32}"], &["algolia_index=docs"]),
    token("clickhouse-key", "ClickHouse Cloud key", r"4b1d[A-Za-z0-9]{38}", &["4b1d"], "CLICKHOUSE_KEY_SECRET", &["4b1d{w38}"], &["4b1d{x38}"]).checked(random),
    token("mongodb-atlas-secret", "MongoDB Atlas service account secret", r"mdb_sa_sk_[A-Za-z0-9_-]{36,44}", &["mdb_sa_sk_"], "MONGODB_ATLAS_CLIENT_SECRET", &["mdb_sa_sk_{w40}"], &["mdb_sa_sk_{x40}"]),
    token("aiven-token", "Aiven token", r"aivenv1_[A-Za-z0-9+/=_-]{60,}", &["aivenv1_"], "AIVEN_TOKEN", &["aivenv1_{b100}"], &["aivenv1_..."]),
    token("prefect-key", "Prefect key", r"pn[ub]_[A-Za-z0-9]{36}", &["pnu_", "pnb_"], "PREFECT_API_KEY", &["pnu_{w36}"], &["pnu_{x36}"]),
    // Work.
    token("atlassian-token", "Atlassian token", r"AT(?:ATT|STT|OA|CTT)3xFfG[A-Za-z0-9_=\\%-]{60,}", &["atatt3", "atstt3", "atoa3"], "ATLASSIAN_API_TOKEN", &["ATATT3xFfGF0{s170}={H8}"], &["ATATT3xFfGF0..."]).proven(proof::crc_in_hex),
    vendor("atlassian-key", "Atlassian secret", after!(r"[A-Za-z0-9]{24}|[A-Za-z0-9+/]{44}|[A-Za-z0-9]{20}[A-F0-9]{4}"), &["jira", "atlassian", "confluence"], "ATLASSIAN_API_TOKEN", &["JIRA_API_TOKEN={w24}"], &["JIRA_PROJECT=ABC-1"]),
    token("linear-key", "Linear key", r"lin_(?:api|oauth|wh|mcp)_[A-Za-z0-9]{32,64}", &["lin_api_", "lin_oauth_", "lin_wh_", "lin_mcp_"], "LINEAR_API_KEY", &["lin_api_{w40}"], &["lin_api_{x40}"]),
    token("notion-token", "Notion token", r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{42,44}|nrt_[A-Za-z0-9_]{40,60})", &["ntn_", "secret_", "nrt_"], "NOTION_TOKEN", &["ntn_{d11}{w35}", "secret_{w43}"], &["secret_{x43}", "secret_key_base"]).checked(random),
    token("figma-token", "Figma token", r"fig(?:d|o|u|dr|or|ur|our)_[A-Za-z0-9_-]{36,48}", &["figd_", "figo_", "figu_", "figdr_", "figor_", "figur_", "figour_"], "FIGMA_TOKEN", &["figd_{s40}"], &["figd_{x40}"]),
    token("figma-token-old", "Figma token", r"\d{4,6}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", &["figma"], "FIGMA_TOKEN", &["X-Figma-Token: 1234-{U1}"], &["figma.com/file"]).near(0, 80),
    token("airtable-token", "Airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-z]{64}", &["pat"], "AIRTABLE_TOKEN", &["pat{w14}.{h64}"], &["pat{x14}.{x64}", "pattern"]),
    vendor("airtable-key", "Airtable key", after!(r"key[A-Za-z0-9]{14}|[A-Za-z0-9]{17}"), &["airtable"], "AIRTABLE_TOKEN", &["AIRTABLE_API_KEY=key{w14}"], &["AIRTABLE_BASE_ID=appXXXXXXXXXXXXXX"]),
    token("asana-token", "Asana token", r"[0-2]/\d{12,17}(?:/\d{12,17})?:[0-9a-f]{32}|0/[0-9a-f]{32}", &["asana"], "ASANA_ACCESS_TOKEN", &["ASANA_ACCESS_TOKEN=1/{d16}:{h32}"], &["asana.com/0/123"]).near(0, 96),
    vendor("asana-secret", "Asana secret", after!(r"[0-9a-fA-F]{32,40}"), &["asana"], "ASANA_ACCESS_TOKEN", &["asana_client_secret: {h32}"], &["asana task {d16}"]),
    token("mapbox-token", "Mapbox secret token", r"[st]k\.[A-Za-z0-9_-]{40,100}\.[A-Za-z0-9_-]{20,24}", &["sk.", "tk."], "MAPBOX_ACCESS_TOKEN", &["sk.eyJ{s70}.{s22}"], &["pk.eyJ{s70}.{s22}", "sk.metrics.accuracy"]),
    token("contentful-token", "Contentful token", r"CFPAT-[A-Za-z0-9_-]{43}", &["cfpat-"], "CONTENTFUL_MANAGEMENT_TOKEN", &["CFPAT-{s43}"], &["CFPAT-{x43}"]),
    token("hubspot-token", "HubSpot token", r"pat-(?:na|eu|ap|ca)\d-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["pat-na", "pat-eu", "pat-ap", "pat-ca"], "HUBSPOT_ACCESS_TOKEN", &["pat-na1-{U1}"], &["pat-na1-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    token("typeform-token", "Typeform token", r"tfp_[A-Za-z0-9_.=-]{40,70}", &["tfp_"], "TYPEFORM_TOKEN", &["tfp_{w44}_{w14}"], &["tfp_{x59}"]),
    token("frameio-token", "Frame.io token", r"fio-u-[A-Za-z0-9_-]{60,68}", &["fio-u-"], "FRAMEIO_TOKEN", &["fio-u-{s64}"], &["fio-u-{x64}"]),
    token("postman-key", "Postman key", r"(?:PMAK-[0-9a-zA-Z]{24}-[0-9a-zA-Z]{34}|PMAT-[0-9A-Z]{26})", &["pmak-", "pmat-"], "POSTMAN_API_KEY", &["PMAK-{h24}-{h34}"], &["PMAK-{x24}-{x34}"]),
    token("readme-key", "ReadMe key", r"rdme_[a-z0-9]{70}", &["rdme_"], "README_API_KEY", &["rdme_{l70}"], &["rdme_{x70}"]),
    token("dropbox-token", "Dropbox token", r"sl\.(?:u\.)?[A-Za-z0-9_-]{60,}", &["sl."], "DROPBOX_ACCESS_TOKEN", &["sl.{s136}"], &["sl.{x60}"]).checked(random),
    token("apify-token", "Apify token", r"apify_(?:api|proxy)_[A-Za-z0-9]{32,40}", &["apify_api_", "apify_proxy_"], "APIFY_TOKEN", &["apify_api_{w36}"], &["apify_api_{x36}"]),
    token("adafruit-key", "Adafruit IO key", r"aio_[A-Za-z0-9]{28}", &["aio_"], "ADAFRUIT_IO_KEY", &["aio_{w28}"], &["aio_{x28}"]).checked(random),
    token("wakatime-key", "WakaTime key", r"waka_(?:tok_|sec_)?[0-9a-zA-Z-]{36,}", &["waka_"], "WAKATIME_API_KEY", &["waka_{U1}"], &["waka_{x36}"]),
    token("zuplo-key", "Zuplo key", r"zpka_[0-9a-z]{32}_[0-9a-z]{8}", &["zpka_"], "ZUPLO_API_KEY", &["zpka_{h32}_{h8}"], &["zpka_{x32}_{x8}"]),
    token("riot-key", "Riot Games key", r"RGAPI-[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12}", &["rgapi-"], "RIOT_API_KEY", &["RGAPI-{U1}"], &["RGAPI-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"]),
    token("live-key", "API key", r"live_(?:auth_)?[A-Za-z0-9]{2,}[A-Za-z0-9_]{26,48}", &["live_"], "API_KEY", &["live_{h32}", "live_{d9}_{w30}"], &["live_{x32}"]).shared(),
    token("branch-key", "Branch key", r"key_(?:live|test)_[A-Za-z0-9]{28,40}", &["key_live_", "key_test_"], "BRANCH_KEY", &["key_live_{w32}"], &["key_live_{x32}"]),
    token("s-s4t2ud-secret", "42 Intra secret", r"s-s4t2(?:ud|af)-[0-9a-f]{64}", &["s-s4t2"], "INTRA42_CLIENT_SECRET", &["s-s4t2ud-{h64}"], &["s-s4t2ud-{x64}"]),
    token("akamai-credential", "Akamai credential", r"akab-[a-z0-9]{16}-[a-z0-9]{16}", &["akab-"], "AKAMAI_CLIENT_TOKEN", &["akab-{l16}-{l16}"], &["akab-{x16}-{x16}"]),
    // Building.
    token("buildkite-token", "Buildkite token", r"bk(?:ua|ct|aj|at|pt)_[A-Za-z0-9]{32,64}", &["bkua_", "bkct_", "bkaj_", "bkat_", "bkpt_"], "BUILDKITE_API_TOKEN", &["bkua_{h40}"], &["bkua_{x40}"]),
    token("circleci-token", "CircleCI token", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-z]{40}", &["ccipat_", "cciprj_"], "CIRCLECI_TOKEN", &["CCIPAT_{w22}_{h40}"], &["CCIPAT_{x22}_{x40}"]),
    vendor("travis-token", "Travis CI token", after!(r"[A-Za-z0-9_-]{20,22}"), &["travis_token", "travis_api", "travis-token", "travis token"], "TRAVIS_TOKEN", &["TRAVIS_TOKEN={w22}"], &["TRAVIS_TOKEN=$TOKEN"]),
    vendor("snyk-token", "Snyk token", after!(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), &["snyk"], "SNYK_TOKEN", &["SNYK_TOKEN={U1}"], &["SNYK_TOKEN=xxxxxxxx"]).checked(plausible::uuid),
    vendor("codecov-token", "Codecov token", after!(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), &["codecov"], "CODECOV_TOKEN", &["CODECOV_TOKEN={U1}"], &["CODECOV_TOKEN=${{ secrets.CODECOV_TOKEN }}"]).checked(plausible::uuid),
    token("octopus-key", "Octopus Deploy key", r"API-[A-Z0-9]{25,34}", &["api-"], "OCTOPUS_API_KEY", &["API-{u30}"], &["API-{x30}", "API-REFERENCEDOCUMENTATIONINDEX"]).checked(random),
    token("nx-token", "Nx Cloud or Trigger.dev key", r"tr_(?:dev|prod|stg|pat)_[A-Za-z0-9]{20,40}", &["tr_dev_", "tr_prod_", "tr_stg_", "tr_pat_"], "TRIGGER_SECRET_KEY", &["tr_dev_{w24}"], &["tr_dev_{x24}"]),
    token("mergify-key", "Mergify key", r"mergify_application_[a-z]{2,6}_[A-Za-z0-9_-]{60,80}", &["mergify_application_"], "MERGIFY_TOKEN", &["mergify_application_key_{s70}"], &["mergify_application_key_{x64}"]),
    token("dependency-track-key", "Dependency-Track key", r"odt_[A-Za-z0-9]{32}", &["odt_"], "DTRACK_API_KEY", &["odt_{w32}"], &["odt_{x32}"]),
    token("sslmate-key", "SSLMate key", r"\d{4,8}[A-Za-z0-9]_?[A-Za-z0-9]{32,42}", &["sslmate"], "SSLMATE_API_KEY", &["sslmate_key=\"10002_{w36}\""], &["sslmate.com"]).near(0, 80).checked(random),
    vendor("vault-unseal-key", "Vault unseal key", after!(r"[A-Za-z0-9+/]{43,44}=?|[0-9a-f]{66}"), &["unseal"], "VAULT_UNSEAL_KEY", &["vault operator unseal {b44}", "Unseal Key 1: {b44}"], &["vault operator unseal <key>"]),
    token("zoho-token", "Zoho token", r"1000\.[0-9a-z]{32}\.[0-9a-z]{32}", &["1000."], "ZOHO_ACCESS_TOKEN", &["1000.{h32}.{h32}"], &["1000.00"]),
    token("sourcegraph-cody-key", "Sourcegraph key", r"slk_[0-9a-f]{64}", &["slk_"], "SRC_ACCESS_TOKEN", &["slk_{h64}"], &["slk_{x64}"]),
    token("pubnub-secret", "PubNub secret key", r"sec-c-[A-Za-z0-9=-]{36,60}", &["sec-c-"], "PUBNUB_SECRET_KEY", &["sec-c-{w48}"], &["sec-c-{x40}"]),
    token("zhipu-key", "Zhipu key", r"[0-9a-z]{32}\.[A-Za-z0-9]{16}", &["zhipu", "bigmodel", "zai_api", "glm_"], "ZHIPUAI_API_KEY", &["ZHIPUAI_API_KEY={h32}.{w16}"], &["zhipu.com"]).near(0, 96).checked(random),
    token("salesforce-token", "Salesforce token", r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,130}", &["00d"], "SF_ACCESS_TOKEN", &["00D{w12}!{w100}"], &["00d!"]).advice(HELPER),
    token("clickup-token", "ClickUp token", r"pk_\d{6,10}_[A-Z0-9]{32}", &["pk_"], "CLICKUP_API_TOKEN", &["pk_{d8}_{u32}"], &["pk_{d8}_{x32}", "pk_column"]),
    token("trello-token", "Trello token", r"ATTA[0-9a-f]{60,76}", &["atta"], "TRELLO_TOKEN", &["ATTA{h72}"], &["ATTACHMENT"]),
    token("authress-key", "Authress service key", r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{10,32}\.[A-Za-z0-9]{4,8}\.[\w-]{10,40}\.[A-Za-z0-9+/_=-]{30,}", &["sc_", "ext_", "scauth_", "authress_"], "AUTHRESS_KEY", &["sc_{w20}.{l4}.acc-{l16}.{w64}"], &["sc_config.json"]),
    token("infracost-key", "Infracost key", r"ico-[A-Za-z0-9]{32}", &["ico-"], "INFRACOST_API_KEY", &["ico-{w32}"], &["ico-{x32}"]),
    token("ionic-token", "Ionic token", r"ion_[A-Za-z0-9]{42}", &["ion_"], "IONIC_TOKEN", &["ion_{w42}"], &["ion_{x42}"]),
    token("settlemint-token", "SettleMint token", r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,48}", &["sm_aat_", "sm_pat_", "sm_sat_"], "SETTLEMINT_ACCESS_TOKEN", &["sm_pat_{w20}"], &["sm_pat_{x20}"]),
    token("rootly-token", "Rootly token", r"rootly_[0-9a-f]{64}", &["rootly_"], "ROOTLY_API_TOKEN", &["rootly_{h64}"], &["rootly_{x64}"]),
    token("harness-token", "Harness token", r"(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", &["pat.", "sat."], "HARNESS_API_KEY", &["pat.{w22}.{w24}.{w20}"], &["pat.{x22}"]),
    token("service-token", "Service token", r"(?:BBFF|dnt|ubi|vultr|hcp|bxt|cal_live|polar_oat|unkey|secret-live|ramp_sec|persona_production|inngest|signkey-prod|logfire|dtn|bb_live|m0|zu|chpt)[_-][A-Za-z0-9_-]{28,80}", &["bbff-", "bxt_", "cal_live_", "polar_oat_", "unkey_", "secret-live-", "ramp_sec_", "persona_production_", "signkey-prod-", "dtn_", "bb_live_", "chpt_"], "API_KEY", &["cal_live_{h32}", "polar_oat_{w43}"], &["cal_live_{x32}", "polar_oat_{x43}"]).shared(),
    vendor("service-key", "Service key", after!(r"[A-Za-z0-9][A-Za-z0-9_.+/=-]{15,}"), SERVICES, "API_KEY", &["shodan = {w32}", "telnyx KEY {w32}", "blazemeter: {U1}"], &["shodan commit {h40}", "telnyx-messaging-service-configuration"]),
    // Networks of people.
    token("facebook-token", "Facebook token", r"EAA[A-Za-z0-9]{80,}", &["eaa"], "FACEBOOK_ACCESS_TOKEN", &["EAAC{w120}"], &["EAA{x80}"]).checked(random),
    token("facebook-app-token", "Facebook app token", r"\d{13,17}\|[A-Za-z0-9_-]{26,28}", &["facebook", "fb_app", "access_token"], "FACEBOOK_APP_TOKEN", &["facebook_token = {d16}|{s27}"], &["| facebook | b |"]).near(0, 96).checked(random),
    token("instagram-token", "Instagram token", r"IG(?:QV|QW|AA)[A-Za-z0-9_-]{80,}", &["igqv", "igqw", "igaa"], "INSTAGRAM_ACCESS_TOKEN", &["IGQVJ{w160}"], &["IGQV{x80}"]),
    token("twitter-bearer-token", "X bearer token", r"A{18,24}[A-Za-z0-9%_-]{40,}", &["aaaaaaaaaaaaaaaaaa"], "X_BEARER_TOKEN", &["AAAAAAAAAAAAAAAAAAAAA{w30}%3D{w50}"], &["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]).checked(twitter_bearer).any_entropy(),
    token("twitter-access-token", "X access token", r"[0-9]{15,19}-[A-Za-z0-9]{24,45}", &["twitter", "x_access"], "X_ACCESS_TOKEN", &["TWITTER_ACCESS_TOKEN={d19}-{w40}"], &["twitter.com/x/status/{d19}"]).near(0, 96).checked(random),
    vendor("linkedin-secret", "LinkedIn secret", after!(r"WPL_AP\d\.[A-Za-z0-9=.]{16,}|[A-Za-z0-9]{16}"), &["linkedin"], "LINKEDIN_CLIENT_SECRET", &["LINKEDIN_CLIENT_SECRET={w16}"], &["linkedin.com/in/someone"]),
    // Formats of any origin.
    token("private-key", "Private key", r#"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-[^-])+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:[\s\\rn"'+,*#>|`]{0,40}[A-Za-z0-9+/=]{24,})+)"#, &["-----begin "], "SSH_AUTH_SOCK", &["-----BEGIN RSA PRIVATE KEY-----\nMII{b61}\n{b64}\n-----END RSA PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n{b70}", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ{b62}\n{b64}\n-----END PGP PRIVATE KEY BLOCK-----"], &["-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\n{b64}\n-----END PUBLIC KEY-----", "-----BEGIN RSA PRIVATE KEY-----"]).checked(proof::key_block).structure().advice(AGENT),
    token("private-key-base64", "Private key in base 64", r"LS0tLS1CRUdJTi[A-Za-z0-9+/=\s]{60,}", &["ls0tls1crudjti"], "SSH_AUTH_SOCK", &[], &["LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{b80}"]).checked(proof::encoded_key_block).structure().advice(AGENT),
    token("private-key-putty", "PuTTY private key", r"PuTTY-User-Key-File-[23]:(?:[^P]|P[^u]|Pu[^T])*?Private-Lines: \d{1,3}(?:\r?\n|(?:\\r)?\\n)((?:[A-Za-z0-9+/=]{16,}(?:\r?\n|(?:\\r)?\\n)?)+)", &["putty-user-key-file-"], "SSH_AUTH_SOCK", &["PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\n{b44}\n"], &["PuTTY-User-Key-File-3: ssh-ed25519"]).structure().advice(AGENT),
    token("age-key", "age secret key", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", &["age-secret-key-1"], "SOPS_AGE_KEY_FILE", &["AGE-SECRET-KEY-1{q58}"], &["AGE-SECRET-KEY-1{x58}"]).proven(proof::bech32).advice(AGENT),
    token("jwt", "JSON Web Token", r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]{8,}){0,2}", &["eyj"], "ACCESS_TOKEN", &["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi{w40}.{s43}"], &["eyJhbGciOi...", "eyJhbGciOiJIUzI1NiJ9.e30.x"]).checked(proof::json_web_token).structure(),
    token("bearer-token", "Bearer token", r#"(?i:bearer|token token=|ssws)["':= \t\\]{1,5}([A-Za-z0-9_.~+/%=|:-]{16,})"#, &["bearer", "token token="], "ACCESS_TOKEN", &["Authorization: Bearer {w40}", "--oauth2-bearer \"{b24}==\""], &["Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "Bearer authentication-scheme-name"]).checked(random).structure(),
    token("basic-credentials", "Basic authentication", r#"(?i:basic)[ \t]{1,2}([A-Za-z0-9+/_-]{8,}={0,2})"#, &["basic "], "BASIC_AUTH", &["Authorization: Basic YWxpY2U6{w16}"], &["Authorization: Basic dXNlcjpwYXNzd29yZA==", "Basic configuration options"]).checked(basic).structure().advice(NETRC),
    token("authorization-header", "Authorization header", r#"(?i:authorization)["'`]?[ \t]{0,3}[:=,][ \t]{0,3}["'`]?(?:[A-Za-z][A-Za-z0-9-]{1,20}[ \t:]{1,2}(?:token=)?["']?)?([A-Za-z0-9_.~+/%=|:-]{20,})"#, &["authorization"], "ACCESS_TOKEN", &["\"authorization\": \"{w40}\"", "Authorization: ApiKey {w40}"], &["Authorization: ${TOKEN}", "authorization: role-based-access-control"]).checked(random).structure(),
    token("url-password", "URL with a password", r#"://[^\s/@:"'<>`?#]{0,80}:([^\s/"'<>`]{3,200})@[\w.\[-]"#, &["://"], "DATABASE_URL", &["postgres://app:{w16}@db.acme.io:5432/app", "https://deploy:{w20}@git.acme.io/x.git", "redis://:{w24}@cache:6379"], &["postgres://postgres:postgres@localhost/app", "https://user:pass@example.com", "postgres://app:$PASSWORD@db/app", "postgres://app:<password>@db/app", "https://a.io:443/@x/y"]).checked(url_password).structure().needs(b'@').advice(NETRC),
    token("connection-string", "Connection string with a password", r#"(?i:;[ \t]{0,2}(?:pwd|password|pass)[ \t]{0,2}=[ \t]{0,2})([^\s;"'<>`]{4,128})"#, &[";pwd", ";password", "; password", "; pwd", ";pass"], "DATABASE_URL", &["Server=db;Database=a;User Id=b;Password={w14};"], &["Server=db;User Id=b;Password=secret;", "Server=db;Password={password};"]).checked(plausible::password).structure(),
    token("netrc", "netrc password", r"(?i:machine)\s{1,4}\S{1,128}\s{1,8}login\s{1,4}\S{1,128}\s{1,8}password\s{1,4}(\S{4,200})", &["machine "], "NETRC", &["machine api.acme.io login bot password {w20}", "machine api.acme.io\n  login bot\n  password {w20}"], &["machine api.acme.io login bot password <password>", "machine learning"]).checked(netrc_password).structure().advice(NETRC),
    token("command-credentials", "User and password on a command line", r#"(?:-u|--user|--proxy-user|(?i:userpwd),)[ =]{0,2}["']?[^\s:"'$<]{1,64}:([^\s"'`]{5,128})"#, &["-u ", "--user", "-u\"", "userpwd,"], "CURL_NETRC", &["curl -u admin:{w14} https://acme.io", "curl --user \"a:{w14}\" https://acme.io"], &["curl -u \"$USER:$PASS\" https://acme.io", "curl -u user:password https://acme.io", "docker run -u 1000:1000 x"]).checked(command_password).structure().advice(NETRC),
    token("powershell-password", "Password in PowerShell", r#"(?i:convertto-securestring|networkcredential)(?i:[ \t]{1,4}-[a-z]{3,12}){0,3}[ \t]{0,3}(?:\(?\\?["'][^"'\s]{1,64}["'],[ \t]{0,4})?[ (]{0,3}\\?["']?([^\s"'`$()\\]{6,128})"#, &["convertto-securestring", "networkcredential"], "PASSWORD", &["ConvertTo-SecureString \"{w14}\" -AsPlainText", "new NetworkCredential(\"bot\", \"{w20}\")"], &["ConvertTo-SecureString $password -AsPlainText -Force", "new NetworkCredential(user, password)"]).checked(netrc_password).structure(),
    token("sql-password", "Password in SQL", r#"(?i:identified[ \t]{1,3}(?:with[ \t]{1,3}\w{1,40}[ \t]{1,3})?by|with[ \t]{1,3}(?:encrypted[ \t]{1,3})?password)[ \t]{1,3}['"]?([^\s'"`;\\]{5,128})"#, &["identified by", "identified with", "with password", "with encrypted password"], "PGPASSWORD", &["CREATE USER a IDENTIFIED BY '{w14}';", "ALTER USER a WITH PASSWORD '{w14}';"], &["CREATE USER a IDENTIFIED BY 'password';", "sign in with password and a code"]).checked(plausible::password).structure(),
    // A name that says it.
    Detector {
        id: "password",
        title: "Password",
        pattern: assigned!(),
        keywords: &["pass", "pwd", "pw:", "pw=", "psw"],
        place: Place::Name(Kind::Password),
        rank: Rank::Generic,
        needs: None,
        entropy: None,
        check: None,
        proof: None,
        instead: "PASSWORD",
        advice: MANAGER,
        hits: &["DB_PASSWORD={w14}", "password: \"Tr0ub4dor&3\"", "<password>{w14}</password>", "mysql --password {w14}", "| password | `{w14}` |"],
        misses: &["password: string", "password: required", "password=secret", "DB_PASSWORD=changeme", "password: ${DB_PASSWORD}", "The password must have 12 characters.", "password_hash: {w20}"],
    },
    Detector {
        id: "secret-value",
        title: "Secret",
        pattern: assigned!(),
        keywords: &["key", "token", "secret", "credential", "auth\"", "auth'", "auth=", "auth:", "auth =", "auth :", "_api", "_pat", "-pat", "license:", "bearer"],
        place: Place::Name(Kind::Secret),
        rank: Rank::Generic,
        needs: None,
        entropy: None,
        check: None,
        proof: None,
        instead: "API_KEY",
        advice: MANAGER,
        hits: &["export ACME_API_KEY=\"{h32}\"", "client_secret: {w32}", "\"accessToken\": \"{w40}\"", "api_key = os.getenv('ACME_API_KEY', '{w32}')", "- name: API_KEY\n  value: \"{w32}\"", "ACME_ACCESS_KEY={U1}"],
        misses: &["cache_key: {h40}", "api_key: YOUR_API_KEY", "const token = getAccessToken();", "secretName: tls-wildcard-2024", "token_id: {U1}", "key: settings.security.two_factor", "publicKey: {w40}"],
    },
];

fn url_password(value: &str) -> bool {
    // Several hosts, each with its own credentials, and a password with `@` in it, are one value here.
    let value = &percent_decoded(value.trim_end_matches(['@', ':']));
    !value.contains(['$', '{', '}', '(', ')', '*', '|', '\\'])
        && !plausible::sample_word(value)
        && (plausible::password(value) || random(value) || letters(value))
}

/// `p%40ss` is `p@ss`.
fn percent_decoded(value: &str) -> String {
    let mut decoded = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('%') {
        decoded.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|code| u8::from_str_radix(code, 16).ok()).filter(u8::is_ascii);
        decoded.push(code.map_or('%', char::from));
        rest = &rest[at + if code.is_some() { 3 } else { 1 }..];
    }
    decoded + rest
}

/// A password of letters only, in a place where nothing but a password stands.
fn letters(value: &str) -> bool {
    value.len() >= 6
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && !plausible::placeholder(value)
        && !value.to_ascii_lowercase().contains("pass")
}

fn netrc_password(value: &str) -> bool {
    plausible::password(value) || random(value)
}

fn command_password(value: &str) -> bool {
    !value.contains(['$', '{', '/'])
        && !value.bytes().all(|byte| byte.is_ascii_digit())
        && (plausible::password(value) || random(value))
}

fn basic(value: &str) -> bool {
    value.len() >= 12 && !plausible::placeholder(value) && proof::basic(value)
}

fn twitter_bearer(value: &str) -> bool {
    let body = value.trim_start_matches('A');
    body.len() >= 30 && random(body)
}
