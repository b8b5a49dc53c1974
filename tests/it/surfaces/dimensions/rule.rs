//! The rule by which the set of questions in tests/fixtures/dimensions is made: a year of notes of a platform team.
//!
//! | family | question | gold | found by |
//! |---|---|---|---|
//! | structural | the city of the lead of the group that owns a service | three notes, each joined to the next by an entity | connection |
//! | semantic | a note in other words: inflected, misspelt, or a synonym | the note | spelling, synonyms |
//! | temporal | the present value of a setting | the newest of five notes that differ in date and value alone | freshness |
//! | together | the note that is used whenever another one is | the other note, which shares neither word nor entity | shared sessions |
//! | causal | the origin of an incident | two entities one and two causes before it, among six neighbours at the same weight | causes |
//!
//! Ids are drawn by lot, so that their order says nothing: recall breaks ties by id.

use crate::harness::random::Random;
use ebb_core::domain::units::Timestamp;
use serde_json::{Value, json};

/// Number of questions of each family, in the order of [`FAMILIES`].
const COUNTS: [usize; 5] = [24, 24, 24, 12, 24];
pub(super) const FAMILIES: [&str; 5] = ["structural", "semantic", "temporal", "together", "causal"];
/// 2026-01-01: the first day of the year.
const BEGIN_MS: i64 = 1_767_225_600_000;
const DAY_MS: i64 = 86_400_000;
/// Length of the year in days; questions are asked at its end.
pub(super) const DAYS: i64 = 300;
/// Sessions in which two notes are used together.
const TOGETHER: usize = 5;

const SERVICES: [&str; 24] = [
    "harbor", "quill", "lantern", "mosaic", "pepper", "raven", "summit", "timber", "violet", "willow",
    "anchor", "beacon", "cobalt", "dune", "ember", "falcon", "garnet", "hazel", "indigo", "juniper",
    "kestrel", "linden", "marble", "nectar",
];
const GROUPS: [&str; 24] = [
    "Ashgrove",
    "Birchfield",
    "Cedarholm",
    "Dellwood",
    "Elmbridge",
    "Fernhill",
    "Glenmoor",
    "Hawksley",
    "Ivydale",
    "Jarrow",
    "Kingsmead",
    "Larkspur",
    "Merton",
    "Northgate",
    "Oakham",
    "Penrose",
    "Quarndon",
    "Redcliff",
    "Stanmore",
    "Thornbury",
    "Upwell",
    "Verwood",
    "Wexcombe",
    "Yarnton",
];
const PEOPLE: [&str; 24] = [
    "Ada", "Bruno", "Clara", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Katya", "Liam",
    "Mira", "Noor", "Oskar", "Petra", "Quentin", "Rosa", "Sven", "Tilda", "Umar", "Vera", "Wanda", "Yusuf",
];
const CITIES: [&str; 24] = [
    "Aarhus",
    "Bergen",
    "Cork",
    "Dresden",
    "Espoo",
    "Faro",
    "Ghent",
    "Haarlem",
    "Innsbruck",
    "Jena",
    "Krakow",
    "Lille",
    "Malmo",
    "Nantes",
    "Odense",
    "Porto",
    "Rennes",
    "Salzburg",
    "Tartu",
    "Uppsala",
    "Vigo",
    "Wroclaw",
    "York",
    "Zagreb",
];
const SETTINGS: [&str; 4] = ["request timeout", "replica count", "retry limit", "cache size"];
const EFFECTS: [&str; 6] =
    ["empty carts", "slow logins", "lost invoices", "double charges", "late parcels", "blank pages"];
const CONDITIONS: [&str; 6] =
    ["full queue", "stale replica", "locked table", "dropped sessions", "retry storm", "clogged disk"];
const ORIGINS: [&str; 6] = [
    "expired certificate",
    "wrong time zone",
    "half migrated schema",
    "leaked handle",
    "moved bucket",
    "broken firmware",
];
/// Relations that say nothing about causes.
const BESIDE: [&str; 6] =
    ["reported_by", "charted_on", "seen_beside", "discussed_in", "resembles", "logged_at"];
const BESIDE_NOUNS: [&str; 6] = ["caller", "dashboard", "alarm", "meeting", "episode", "console"];

/// A note, a question for it in other words, and another note with a word of the question.
const REWORDED: [(&str, &str, &str); 24] = [
    (
        "Insumo for the moulding arrives in paper bags",
        "materia-prima moulding",
        "Lunch for the moulding crew",
    ),
    (
        "Our fornecedor of cardboard closes in August",
        "cardboard supplier",
        "Cardboard is recycled on Tuesday",
    ),
    ("The despesa for heating doubled", "heating cost", "Heating was serviced"),
    ("A panic stopped the nightly sync", "exception nightly sync", "The nightly sync was moved"),
    ("Every encomenda from Chile is inspected", "Chile order", "A postcard from Chile"),
    ("The plataforma for billing is rebooted on Sunday", "billing system", "The billing team has a mascot"),
    ("The qualidade report is signed twice", "conformidade report", "The report has a cover"),
    ("A crate for parsing dates was archived", "library for parsing dates", "Parsing dates took a sprint"),
    ("Reconciliation of ledgers happens on Friday", "reconciling ledger", "A ledger of visitors"),
    ("Authentication of couriers needs two badges", "courier authenticated", "A courier lost a glove"),
    ("Deduplication of addresses ignores case", "deduplicated address", "The address of the bakery"),
    ("Translations of invoices are stored as drafts", "translating invoice draft", "A draft for the raffle"),
    ("Compression of archives begins after a week", "compressed archive", "The archive has two keys"),
    ("Notifications for refunds are batched hourly", "refund notifying", "A refund for the coffee machine"),
    ("Calibration of scanners follows the humidity", "calibrated scanner", "The scanner room is painted"),
    ("Subscriptions of schools renew in September", "school subscribing", "The school choir sang"),
    (
        "The thermostat profile for the greenhouse is locked",
        "thermostt profle greenhose",
        "The greenhouse has a bench",
    ),
    ("Pseudonyms of reviewers are salted", "psuedonym reviewrs", "Reviewers met for dinner"),
    (
        "The questionnaire for apprentices has nine pages",
        "questionaire aprentices",
        "Apprentices planted a tree",
    ),
    ("Maintenance of elevators is contracted", "maintainance elevater", "The elevator music changed"),
    ("The millennium bug checklist still exists", "milenium bug cheklist", "The bug bounty poster"),
    (
        "Entrepreneurs get a provisional licence",
        "entreprenur provisonal license",
        "The licence plate of the van",
    ),
    ("The manoeuvre of the crane was filmed", "maneuver crane flimed", "The crane has a nickname"),
    ("Occurrences of mildew are photographed", "ocurrence mildew photografed", "Mildew smells"),
];

/// The set: lines of an event file by instant, and questions.
pub(super) struct Set {
    pub(super) events: Vec<Value>,
    pub(super) questions: Vec<Value>,
}

struct Maker {
    random: Random,
    ids: Vec<usize>,
    events: Vec<(i64, Value)>,
    questions: Vec<Value>,
}

impl Maker {
    /// An instant of a day, in milliseconds of the year.
    fn on(&mut self, day: i64) -> i64 {
        day * DAY_MS + self.random.whole(DAY_MS / 1_000) * 1_000
    }

    fn some_day(&mut self) -> i64 {
        let day = self.random.whole(DAYS - 1);
        self.on(day)
    }

    fn put(&mut self, at: i64, mut event: Value) {
        let stamp = Timestamp::from_millis(BEGIN_MS + at).unwrap();
        event["at"] = json!(stamp);
        self.events.push((at, event));
    }

    /// Adds a note, in a session of its own, and returns its id.
    fn note(&mut self, at: i64, content: &str, mentions: &[&str]) -> String {
        let id = format!("n{:04}", self.ids.pop().unwrap());
        let session = format!("s-{id}");
        self.put(
            at,
            json!({"kind": "memory", "id": id, "content": content, "session": session, "mentions": mentions}),
        );
        id
    }

    fn relate(&mut self, at: i64, from: &str, relation: &str, to: &str) {
        self.put(at, json!({"kind": "observe", "from": from, "type": relation, "to": to}));
    }

    fn ask(&mut self, family: usize, text: &str, kind: &str, gold: &[String]) {
        let family = FAMILIES[family];
        self.questions.push(json!({"family": family, "question": text, "kind": kind, "gold": gold}));
    }

    fn structural(&mut self, n: usize) {
        let (service, group, person, city) = (SERVICES[n], GROUPS[n], PEOPLE[n], CITIES[n]);
        let gold = [
            (format!("{service} is run by the {group} group"), [service, group]),
            (format!("{person} leads the {group} group"), [person, group]),
            (format!("{person} works from {city}"), [person, city]),
        ]
        .map(|(content, mentions)| {
            let at = self.some_day();
            self.note(at, &content, &mentions)
        });
        let question = format!("From which city does the lead of the group that runs {service} work?");
        self.ask(0, &question, "Memory", &gold);
    }

    fn semantic(&mut self, n: usize) {
        let (content, question, other) = REWORDED[n];
        let at = self.some_day();
        let gold = self.note(at, content, &[]);
        self.note(at, other, &[]);
        self.ask(1, question, "Memory", &[gold]);
    }

    fn temporal(&mut self, n: usize) {
        let (service, setting) = (SERVICES[n], SETTINGS[n % SETTINGS.len()]);
        let mut newest = String::new();
        for version in 0..5 {
            let at = self.on(5 + version * 55 + i64::try_from(n).unwrap());
            let value = 10 + self.random.whole(90);
            newest = self.note(at, &format!("The {setting} of {service} is {value}"), &[service]);
        }
        let question = format!("What is the {setting} of {service} now?");
        self.ask(2, &question, "Memory", &[newest]);
    }

    fn together(&mut self, n: usize) {
        let (service, city) = (SERVICES[n], CITIES[n + 12]);
        let at = self.some_day() / 4;
        let asked = self.note(at, &format!("Runbook for draining {service}"), &[service]);
        let gold = self.note(at, &format!("Holiday calendar of the {city} office"), &[city]);
        for time in 0..TOGETHER {
            let at = self.on(80 + 40 * i64::try_from(time).unwrap() + i64::try_from(n).unwrap());
            let session = format!("t{n}-{time}");
            for (id, later) in [(&asked, 0), (&gold, 60_000)] {
                self.put(at + later, json!({"kind": "access", "id": id, "session": session}));
            }
            self.put(at + 120_000, json!({"kind": "session_end", "session": session}));
        }
        let question = format!("What else is needed with the runbook for draining {service}?");
        self.ask(3, &question, "Memory", &[gold]);
    }

    fn causal(&mut self, n: usize) {
        let of = |kinds: [&str; 6], step: usize| {
            format!("{} at {}", kinds[(n + n / 6) % 6], SERVICES[(n + step) % 24])
        };
        let (effect, condition, origin) = (of(EFFECTS, 0), of(CONDITIONS, 7), of(ORIGINS, 13));
        let at = self.some_day();
        self.relate(at, &origin, "causes", &condition);
        self.relate(at, &condition, "causes", &effect);
        for (relation, noun) in BESIDE.into_iter().zip(BESIDE_NOUNS) {
            self.relate(at, &effect, relation, &format!("{noun} {n}"));
        }
        self.ask(4, &format!("How did {effect} come about?"), "Entity", &[condition, origin]);
    }
}

/// Makes the set.
pub(super) fn make() -> Set {
    let mut random = Random(21);
    let mut ids: Vec<usize> = (0..10_000).collect();
    for at in (1..ids.len()).rev() {
        ids.swap(at, random.below(at + 1));
    }
    let mut maker = Maker { random, ids, events: Vec::new(), questions: Vec::new() };
    let families = [Maker::structural, Maker::semantic, Maker::temporal, Maker::together, Maker::causal];
    for (family, count) in families.into_iter().zip(COUNTS) {
        (0..count).for_each(|n| family(&mut maker, n));
    }
    maker.events.sort_by_key(|(at, _)| *at);
    Set { events: maker.events.into_iter().map(|(_, event)| event).collect(), questions: maker.questions }
}
