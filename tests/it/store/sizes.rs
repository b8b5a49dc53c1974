//! What people write is data: any text that fits comes back as it was, and what does not fit is refused.

use crate::harness::ebb::{key, remember, session};
use crate::harness::neo4j::fresh;
use ebb_core::domain::annotations::{
    Annotations, NAMESPACE_CHARS_MAX, Provenance, TAG_CHARS_MAX, TAGS_MAX, TEXT_CHARS_MAX,
};
use ebb_core::domain::event::{Event, EventError, Remember};
use ebb_core::domain::ids::{
    CONTENT_BYTES_MAX, EntityName, InstanceId, MENTIONS_MAX, MemoryId, MemoryKey, NAME_BYTES_MAX, Scope,
};
use serde::Deserialize;

const HOSTILE: [&str; 14] = [
    "'}) DETACH DELETE m //",
    "\"}) MATCH (n) DETACH DELETE n //",
    "`) MATCH (n) DETACH DELETE n //",
    "\\u0027}) MATCH (n) DETACH DELETE n //",
    "$id",
    "${id}",
    "{{id}}",
    "m; DROP CONSTRAINT ebb_memory_id",
    "a->b",
    "\u{202e}evil\u{202c}",
    "\u{feff}zero\u{200b}width",
    "🧠\u{1f468}\u{200d}\u{1f469}",
    "e\u{301} is not é",
    "/* */ -- # // \\",
];

fn annotations(text: &str) -> Annotations {
    let text = || Some(text.to_owned());
    let source =
        Provenance { source_path: text(), excerpt: text(), namespace: text(), ..Provenance::default() };
    Annotations::new(&text().into_iter().collect::<Vec<_>>(), source).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_stored_as_it_is() {
    let db = fresh().await;
    let events: Vec<Event> = HOSTILE
        .iter()
        .map(|text| {
            Event::Remember(Remember {
                content: (*text).to_owned(),
                session: Some(session(text)),
                instance: Some(InstanceId::new(text).unwrap()),
                mentions: vec![EntityName::new(text).unwrap()],
                scope: Scope::new(text).unwrap(),
                annotations: annotations(text),
                ..remember(text, 0.0)
            })
        })
        .collect();
    db.apply(&events).await;
    #[derive(Deserialize, PartialEq, Debug)]
    struct Left {
        id: String,
        content: String,
        scope: String,
        instance: String,
        session: String,
        entity: String,
    }
    let text = "MATCH (s:Session)<-[:ACCESSED_IN]-(m:Memory)-[:MENTIONS]->(e:Entity)
                RETURN m.id AS id, m.content AS content, m.scope AS scope, m.instanceId AS instance,
                  s.id AS session, e.name AS entity";
    let mut left: Vec<Left> = db.client.rows(text, &[]).await;
    left.sort_by_key(|row| HOSTILE.iter().position(|text| *text == row.id));
    let wanted: Vec<Left> = HOSTILE
        .iter()
        .map(|text| {
            let text = || (*text).to_owned();
            Left {
                id: text(),
                content: text(),
                scope: text(),
                instance: text(),
                session: text(),
                entity: text(),
            }
        })
        .collect();
    assert_eq!(left, wanted);
    for name in HOSTILE {
        let kept = db.store.memories(&[MemoryKey::of_row(name, name)]).await.unwrap().remove(0);
        assert_eq!((kept.content.as_deref(), kept.annotations), (Some(name), annotations(name)));
    }
    assert_eq!(db.store.drift().await.unwrap(), []);
}

fn largest() -> Annotations {
    let tags: Vec<String> = (0..TAGS_MAX).map(|n| format!("{n:🧠>TAG_CHARS_MAX$}")).collect();
    let text = |chars| Some("🧠".repeat(chars));
    let source = Provenance {
        source_path: text(TEXT_CHARS_MAX),
        line_start: Some(u32::MAX),
        line_end: Some(u32::MAX),
        excerpt: text(TEXT_CHARS_MAX),
        namespace: text(NAMESPACE_CHARS_MAX),
        canonical: true,
    };
    Annotations::new(&tags, source).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_there_may_be_is_kept_and_more_is_refused() {
    let db = fresh().await;
    let longest = |c: char| c.to_string().repeat(NAME_BYTES_MAX / c.len_utf8());
    let big = Remember {
        content: "ä".repeat(CONTENT_BYTES_MAX / 2),
        session: Some(session(&longest('s'))),
        mentions: (0..MENTIONS_MAX).map(|n| EntityName::new(&format!("e{n}")).unwrap()).collect(),
        annotations: largest(),
        ..remember(&longest('m'), 0.0)
    };
    let more = Remember { content: format!("{}.", big.content), ..big.clone() };
    assert!(
        matches!(more.checked(), Err(EventError::TooLong { bytes, .. }) if bytes == CONTENT_BYTES_MAX + 1)
    );
    let mut crowded = big.clone();
    crowded.mentions.push(EntityName::new("one more").unwrap());
    assert!(matches!(crowded.checked(), Err(EventError::TooManyMentions { .. })));
    assert!(matches!(Remember { content: " \n".into(), ..big.clone() }.checked(), Err(EventError::Empty(_))));
    for id in [".", ".."] {
        let unnamed = Remember { id: MemoryId::new(id).unwrap(), ..big.clone() };
        assert!(matches!(unnamed.checked(), Err(EventError::DotSegment(_))), "{id}");
    }
    for name in ["", "  ", "a\u{0}b", "a\nb", &"x".repeat(NAME_BYTES_MAX + 1)] {
        assert!(MemoryId::new(name).is_err(), "{name:?}");
    }

    let big = big.checked().unwrap();
    let (name, content) = (big.id.to_string(), big.content.clone());
    // Thirty of them in one batch are sent in as many slices as they need.
    let mut events: Vec<Event> = vec![Event::Remember(big)];
    events.extend((0..30).map(|n| {
        Event::Remember(Remember { content: content.clone(), ..remember(&format!("big-{n}"), 0.0) })
    }));
    db.apply(&events).await;
    let kept = db.store.memories(&[key(&name)]).await.unwrap().remove(0);
    assert_eq!((kept.content, kept.mentions.len()), (Some(content), MENTIONS_MAX));
    assert_eq!(kept.annotations, largest());
    let whole: i64 =
        db.client.value("MATCH (m:Memory) WHERE size(m.content) = 32768 RETURN count(m) AS n").await;
    assert_eq!(whole, 31);
}
