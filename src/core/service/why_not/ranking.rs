//! The place of a memory in the ranking of a recall, compared with the last hit.

use crate::api::why_not::{LossReason, QuestionWord, RankComparison, RankEvidence, WhyNot};
use crate::domain::ids::{Scope, shell_word};
use crate::mirror::Current;
use crate::service::Service;
use crate::service::recall::{
    Error, Fusion, OutsideMemories, RecallQuery, Spread, TOP_K_MAX, by_score, open, steps, stored_hits,
};
use ebb_engine::graph::index::NodeId;
use ebb_engine::plasticity::prime;
use ebb_engine::recall::missing::{query_words, ranked};

/// Most missing words that are suggested as tags.
const MISSING_MAX: usize = 8;

impl Service {
    /// Ranks a question, and compares a memory with the last hit.
    pub(super) async fn place(
        &self,
        scope: &Scope,
        (current, node): (&Current, Option<NodeId>),
        query: RecallQuery,
        outside: OutsideMemories,
        answer: &mut WhyNot,
    ) -> Result<LossReason, Error> {
        let (top_k, asked) = (query.top_k, query.clone());
        let query = RecallQuery { min_relevance: None, ..query };
        let mut found = self
            .search(scope, current, query, |view, query, rules, (memory, _), scratch| {
                let primes = |seeds: &[(NodeId, f32)]| prime(view.graph(), &open(memory), seeds);
                ranked(view, query, rules, primes, scratch)
            })
            .await?;
        let stored = stored_hits(outside, TOP_K_MAX, &mut found);
        let stored = self.with_relevance(stored, found.relevance.clone(), None).await?.hits;
        answer.flags.extend(found.flags.names());
        let view = &current.view;
        let held = found.hits.iter().map(|hit| RankEvidence {
            id: hit.id.clone(),
            rank: 0,
            score: hit.score,
            relevance: hit.relevance,
            text_rank: hit.text_rank,
            similarity: hit.similarity,
            dimensions: hit.dimensions,
            path: hit.route.as_ref().map_or_else(Vec::new, |route| route.ids.clone()),
            steps: steps(view, hit),
        });
        let stored = stored.into_iter().map(|hit| RankEvidence {
            id: hit.id,
            rank: 0,
            score: hit.score,
            relevance: hit.relevance,
            text_rank: None,
            similarity: hit.similarity,
            dimensions: hit.dimensions,
            path: Vec::new(),
            steps: Vec::new(),
        });
        let mut all: Vec<RankEvidence> = held.chain(stored).collect();
        all.sort_by(|a, b| by_score((a.score, &a.id), (b.score, &b.id)));
        (1..).zip(&mut all).for_each(|(rank, one)| one.rank = rank);
        let name = node.map(|node| view.graph().external_id(node));
        let is_own = |one: &&RankEvidence| match name {
            Some(name) => one.id == name,
            None => super::is_name(&one.id, &answer.id),
        };
        let own = all.iter().find(is_own).cloned();
        let words = node.filter(|_| asked.fusion == Fusion::Text);
        let words = words.map_or_else(Vec::new, |node| query_words(view, &asked.text, node));
        let compared = RankComparison {
            top_k,
            ranked: all.len(),
            words: words.into_iter().map(|(word, in_text)| QuestionWord { word, in_text }).collect(),
            seeds: found.seeds.len(),
            last: all.into_iter().take(top_k).next_back(),
            own,
        };
        let hops = (asked.spread == Spread::Activation)
            .then(|| self.config.engine.activation(asked.profile).max_depth);
        let tags = node.map(|node| view.graph().tags(node).collect());
        let reason = self.explain_rank(&compared, &asked, (hops, tags), answer);
        answer.ranking = Some(compared);
        Ok(reason)
    }

    /// Says where a memory ranks and what separates it from the last hit.
    fn explain_rank(
        &self,
        compared: &RankComparison,
        query: &RecallQuery,
        (hops, tags): (Option<u8>, Option<Vec<&str>>),
        answer: &mut WhyNot,
    ) -> LossReason {
        let RankComparison { top_k, ranked, own, last, .. } = compared;
        let is_hit = own.as_ref().is_some_and(|own| own.rank <= *top_k);
        let is_all = *ranked < TOP_K_MAX;
        let is_relevant = own.as_ref().is_none_or(|own| is_relevant(own, query));
        match (own, last) {
            (Some(own), Some(last)) if is_hit && is_relevant => answer.say(format!(
                "It is a hit: rank {} of {ranked}, with a score of {:.4}; the last of the first {top_k} has {:.4}.",
                own.rank, own.score, last.score
            )),
            (Some(own), Some(_)) if is_hit => answer.say(format!(
                "It is among the first {top_k}: rank {} of {ranked}, with a score of {:.4}.",
                own.rank, own.score
            )),
            (Some(own), Some(last)) => answer.say(format!(
                "It ranks {} of {ranked}, with a score of {:.4}; the last of the first {top_k} hits, {}, has {:.4}.",
                own.rank, own.score, last.id, last.score
            )),
            (None, _) if is_all => answer.say(format!(
                "Nothing of the question leads to it; {ranked} other nodes were found."
            )),
            _ => answer.say(format!("It is not among the {TOP_K_MAX} best nodes that the question finds.")),
        }
        if let Some(own) = own.as_ref().filter(|_| !is_relevant) {
            explain_relevance(own, query, answer);
        }
        if !is_hit {
            let last = last.as_ref();
            if tags.is_some() {
                answer.say(by_words(compared, query, last));
                answer.say(by_links(compared, hops, last));
            }
            answer.say(self.by_vectors(compared, query, last));
            self.suggest_by_rank(compared, query, &tags.unwrap_or_default(), answer);
        }
        match (is_hit, own.is_none() && is_all) {
            (true, _) if is_relevant => LossReason::Hit,
            (true, _) => LossReason::NotRelevant,
            (false, true) => LossReason::NoEvidence,
            (false, false) => LossReason::Outranked,
        }
    }

    fn by_vectors(
        &self,
        compared: &RankComparison,
        query: &RecallQuery,
        last: Option<&RankEvidence>,
    ) -> String {
        let of_last = last.and_then(|last| Some(format!("; that of {} is {:.3}", last.id, last.similarity?)));
        match (query.vector.is_some(), compared.own.as_ref().and_then(|own| own.similarity)) {
            (false, _) if self.embedder().is_none() => {
                "No embeddings were compared: the request has none, and no embedder is configured (embedding.url).".to_owned()
            }
            (false, _) => "No embeddings were compared.".to_owned(),
            (true, Some(own)) => format!(
                "The similarity of its embedding to that of the question is {own:.3}{}.",
                of_last.unwrap_or_default()
            ),
            (true, None) => format!(
                "It has no embedding, or one that is not among the 200 most similar{}.",
                of_last.unwrap_or_default()
            ),
        }
    }

    /// `tags` are those that the memory has: an update replaces them all.
    fn suggest_by_rank(
        &self,
        compared: &RankComparison,
        query: &RecallQuery,
        tags: &[&str],
        answer: &mut WhyNot,
    ) {
        let most = self.config.engine.top_k_max();
        if let Some(own) = &compared.own {
            let raise = if own.rank > most { ", which engine.top_k_max must allow" } else { "" };
            answer.suggest(format!("A top_k (--top) of {} shows it{raise}.", own.rank));
        }
        if query.fusion == Fusion::Text
            && let Some(suggestion) = other_words(&answer.id, &compared.words, tags)
        {
            answer.suggest(suggestion);
        }
        if query.vector.is_none() && self.embedder().is_none() {
            answer.suggest(
                "Configure an embedder (embedding.url): it finds texts that share no word with a question."
                    .to_owned(),
            );
        }
    }
}

/// How a memory with these tags is found by words, if its text lacks some of the question.
fn other_words(id: &str, words: &[QuestionWord], tags: &[&str]) -> Option<String> {
    let missing: Vec<&str> =
        words.iter().filter(|word| !word.in_text).map(|word| word.word.as_str()).collect();
    match missing.len() {
        0 => None,
        1..=MISSING_MAX => {
            let tags = tags.iter().copied().chain(missing);
            let options: String = tags.map(|tag| format!(" --tag {}", shell_word(tag))).collect();
            Some(format!(
                "Ask with words of its text, or give it the missing ones as tags: ebb memory update {}{options}",
                shell_word(id)
            ))
        }
        _ => Some("Ask with words of its text.".to_owned()),
    }
}

/// Whether a node is as relevant as requested.
fn is_relevant(own: &RankEvidence, query: &RecallQuery) -> bool {
    query.min_relevance.is_none_or(|least| own.relevance.is_some_and(|relevance| relevance >= least))
}

/// Says that a node is less relevant than requested.
fn explain_relevance(own: &RankEvidence, query: &RecallQuery, answer: &mut WhyNot) {
    let least = query.min_relevance.unwrap_or_default();
    match own.relevance {
        Some(relevance) => {
            answer.say(format!("Its relevance is {relevance:.3}, and min_relevance is {least}."));
            let shown = (f64::from(relevance) * 1_000.0).floor() / 1_000.0;
            answer.suggest(format!("A min_relevance (--min-relevance) of {shown} shows it."));
        }
        None => {
            answer.say(format!("Nothing tells how relevant it is, and min_relevance is {least}."));
            answer.suggest("Leave out min_relevance (--min-relevance).".to_owned());
        }
    }
}

/// What the words of the question say.
fn by_words(compared: &RankComparison, query: &RecallQuery, last: Option<&RankEvidence>) -> String {
    if query.fusion == Fusion::Off {
        return "The text of memories was not searched, as requested.".to_owned();
    }
    let named = |in_text: bool| {
        let words = compared.words.iter().filter(|word| word.in_text == in_text);
        words.map(|word| word.word.as_str()).collect::<Vec<_>>().join(", ")
    };
    let rank = match compared.own.as_ref().and_then(|own| own.text_rank) {
        Some(rank) => format!(" and ranks {rank} by text"),
        None => " and is not among the first 200 by text".to_owned(),
    };
    let of_last = last
        .and_then(|last| Some(format!("; {} ranks {} by text", last.id, last.text_rank?)))
        .unwrap_or_default();
    match (named(true), named(false)) {
        (has, lacks) if has.is_empty() && lacks.is_empty() => {
            "The question has no word that counts.".to_owned()
        }
        (has, lacks) if has.is_empty() => {
            format!("Its text has none of the words of the question: {lacks}{of_last}.")
        }
        (has, lacks) if lacks.is_empty() => {
            format!("Its text has all words of the question that count ({has}){rank}{of_last}.")
        }
        (has, lacks) => {
            format!(
                "Its text has these words of the question: {has}; it lacks {lacks}. It{}{of_last}.",
                rank.trim_start_matches(" and")
            )
        }
    }
}

/// What the links say.
fn by_links(compared: &RankComparison, hops: Option<u8>, last: Option<&RankEvidence>) -> String {
    let way = |one: &RankEvidence| {
        let steps = one.steps.iter().zip(one.path.iter().skip(1));
        let ways = steps.map(|(step, to)| format!(" -{} {:.2}-> {to}", step.kind, step.weight));
        one.path.iter().take(1).cloned().chain(ways).collect::<String>()
    };
    let strength = |one: &RankEvidence| one.dimensions.structural;
    let of_last = last.map(|last| format!("; {} has {:.3}", last.id, strength(last))).unwrap_or_default();
    match &compared.own {
        Some(own) if !own.path.is_empty() => {
            format!("Links lead to it over {}, with a strength of {:.3}{of_last}.", way(own), strength(own))
        }
        _ if compared.seeds == 0 => {
            "No node is named by the question, so that no links were followed.".to_owned()
        }
        own => {
            let within = hops.map_or_else(String::new, |hops| format!(" within {hops} hops"));
            // Beyond the last ranked node it is not known what reached it.
            let known = own.is_some() || compared.ranked < TOP_K_MAX;
            match known {
                true => format!(
                    "No links from the {} nodes where the search began give it weight{within}{of_last}.",
                    compared.seeds
                ),
                false => format!("Whether links lead to it was not looked at{of_last}."),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_missing_words_are_suggested_as_tags() {
        let word = |word: &str, in_text| QuestionWord { word: word.to_owned(), in_text };
        let words = [word("maintains", false), word("parser", true), word("compiler", false)];
        let suggestion = other_words("m-1", &words, &["ops"]).unwrap();
        let command = "ebb memory update m-1 --tag ops --tag maintains --tag compiler";
        assert!(suggestion.ends_with(command), "{suggestion}");
        assert_eq!(other_words("m-1", &words[1..2], &[]), None);
        let many: Vec<QuestionWord> = (0..9).map(|n| word(&format!("w{n}"), false)).collect();
        assert_eq!(other_words("m-1", &many, &[]).as_deref(), Some("Ask with words of its text."));
    }
}
