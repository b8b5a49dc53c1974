//! The default groups, spelling variants of words, and the limits.

use super::*;

fn groups(groups: &[&[&str]]) -> Vec<Vec<String>> {
    groups.iter().map(|group| group.iter().map(|word| (*word).to_owned()).collect()).collect()
}

fn expander(of: &[&[&str]]) -> SynonymExpander {
    SynonymExpander::new(&groups(of)).unwrap()
}

#[test]
fn synonyms_default_15() {
    let default = SynonymExpander::default();
    let checked = expander(&DEFAULT_GROUPS);
    assert_eq!((DEFAULT_GROUPS.len(), default.known.len()), (15, 48));
    for group in DEFAULT_GROUPS {
        for word in group {
            let others: Vec<&str> = group.iter().copied().filter(|other| other != word).collect();
            assert_eq!(default.expand(word), others);
            assert_eq!(checked.expand(word), others);
        }
    }
}

#[test]
fn synonyms_overlap() {
    let wrong = |of: &[&[&str]]| match SynonymExpander::new(&groups(of)) {
        Err(Error::SynonymOverlap { word }) => word,
        other => panic!("{other:?}"),
    };
    assert_eq!(wrong(&[&["error", "failure"], &["panic", "error"]]), "error");
    // Reported as written first, whatever the second spelling.
    assert_eq!(wrong(&[&["coisa", "Memória"], &["memoria"]]), "Memória");
    assert_eq!(wrong(&[&["a", "b"], &["Matéria Prima"], &["materia-prima"], &["b"]]), "Matéria Prima");
    // Duplicates in one group count once.
    assert_eq!(expander(&[&["a", "A", "b", "á"]]).expand("x Á y"), ["x b y"]);
}

#[test]
fn words_match_without_case_and_accents() {
    let default = SynonymExpander::default();
    for query in ["memoria", "Memória", "MEMO\u{301}RIA"] {
        assert_eq!(default.expand(query), ["lembranca", "recordacao"]);
    }
    // Text around a word keeps its case and accents, in composed form.
    assert_eq!(default.expand("Função: CUSTO!"), ["Função: despesa!", "Função: cost!"]);
    assert_eq!(default.expand("Func\u{327}a\u{303}o custo")[0], "Fun\u{e7}\u{e3}o despesa");
    let accented = expander(&[&["Memória", "lembrança"]]);
    assert_eq!(accented.expand("lembranca boa"), ["Memória boa"]);
}

#[test]
fn a_word_of_several_parts_is_found_however_they_are_joined() {
    let default = SynonymExpander::default();
    for query in ["a matéria-prima boa", "a MATERIA PRIMA boa", "a materia_prima boa"] {
        assert_eq!(default.expand(query), ["a material boa", "a insumo boa"]);
    }
    assert_eq!(default.expand("insumo"), ["material", "materia-prima"]);
    for query in ["materia", "prima materia", "materia boa prima", "materiaprima", "materia-primas"] {
        assert!(default.expand(query).is_empty(), "{query}");
    }
    // The word with most parts counts, and reading continues after it.
    let nested = expander(&[&["materia", "coisa"], &["materia-prima", "insumo"], &["prima", "parente"]]);
    assert_eq!(nested.expand("materia-prima"), ["insumo"]);
    assert_eq!(nested.expand("materia materia prima"), ["coisa materia prima", "materia insumo"]);
    assert_eq!(nested.expand("prima materia"), ["parente materia", "prima coisa"]);
}

#[test]
fn a_word_is_found_in_a_clause_without_spaces() {
    let groups = expander(&[&["機械学習", "深層学習"], &["东京都", "首都"], &["รถยนต์", "รถ"]]);
    assert_eq!(groups.expand("機械学習を学ぶ"), ["深層学習を学ぶ"]);
    assert_eq!(groups.expand("日本的首都在哪里"), ["日本的东京都在哪里"]);
    assert_eq!(groups.expand("ซื้อรถยนต์ใหม่"), ["ซื้อรถใหม่"]);
    assert!(groups.expand("东京、京都").is_empty(), "the same pairs, but not adjacent");
}

#[test]
fn words_are_replaced_one_at_a_time_and_only_whole() {
    let default = SynonymExpander::default();
    assert_eq!(
        default.expand("import error_log"),
        [
            "include error_log",
            "require error_log",
            "import exception_log",
            "import failure_log",
            "import panic_log",
        ]
    );
    for query in ["", " - ", "errors", "errorHandler", "unheard of"] {
        assert!(default.expand(query).is_empty(), "{query}");
    }
    assert!(expander(&[]).expand("error").is_empty());
    assert!(expander(&[&["error"], &["", "-", "…"]]).expand("error - …").is_empty());
}

#[test]
fn the_number_of_expansions_is_bounded() {
    let default = SynonymExpander::default();
    let expanded = default.expand(&"error ".repeat(8));
    assert_eq!(expanded.len(), EXPANSIONS_MAX);
    // Three others for each: five words, and the first other of the sixth.
    assert_eq!(expanded[0], "exception error error error error error error error ");
    assert_eq!(expanded[15], "error error error error error exception error error ");
    assert_eq!(default.expand(&"error ".repeat(5)).len(), 15);
}
