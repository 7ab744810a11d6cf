//! Did you mean: the known name nearest to a misspelt one.
//!
//! It knows words; it must not know whose names they are.

/// The names in backquotes with commas between, the first few dozen of them.
pub fn listing<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut shown: Vec<String> = names.by_ref().take(40).map(|name| format!("`{name}`")).collect();
    if names.next().is_some() {
        shown.push("…".into());
    }
    shown.join(", ")
}

/// The candidate nearest to `word`, if near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Texts of hostile length or number would make this a matter of minutes.
    const LONGEST: usize = 100;
    const MOST: usize = 1000;
    if word.len() > LONGEST {
        return None;
    }
    let length = word.chars().count();
    candidates
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| {
            let longest = length.max(candidate.chars().count());
            *distance <= (longest / 3).max(1) && *distance < longest
        })
        // Among equals, the one that shares the longer beginning.
        .min_by(|(d1, c1), (d2, c2)| {
            d1.cmp(d2).then(strsim::jaro_winkler(word, c2).total_cmp(&strsim::jaro_winkler(word, c1)))
        })
        .map(|(_, candidate)| candidate)
}
