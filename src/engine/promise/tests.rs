use super::*;

const MARKER: &str = "<promise>DONE</promise>";

fn anywhere(text: &str) -> Promise {
    promise(Some("DONE"), PromiseMatch::Anywhere, text)
}

#[test]
fn exact_marker_keeps_a_promise() {
    for text in [
        "<promise>DONE</promise>",
        "All is done. <promise>DONE</promise> Bye.",
        "All is done <promise>DONE</promise>",
        "All 14 tasks are done, and the tests pass: **<promise>DONE</promise>**",
        "I did not stop before it worked. <promise>DONE</promise> Not a test fails.",
        "It did not work at first.\n<promise>DONE</promise>",
        "- <promise>DONE</promise>\n- Nothing is left.",
        "```\ncargo test\n```\n<promise>DONE</promise>",
        "`cargo test` passes <promise>DONE</promise> with `--all`",
        "```\n<promise>DONE</promise>\n```",
        "A lone ` stands here. <promise>DONE</promise>",
    ] {
        assert_eq!(anywhere(text), Promise::Kept, "{text}");
    }
    for text in [
        "",
        "DONE",
        "<promise>done</promise>",
        "<promise> DONE </promise>",
        "<promise>\nDONE\n</promise>",
        "<Promise>DONE</Promise>",
        "<promise>DONE",
        "<promise>DONE!</promise>",
        "<promise>NOT DONE</promise>",
        "&lt;promise&gt;DONE&lt;/promise&gt;",
    ] {
        assert_eq!(anywhere(text), Promise::Missing, "{text}");
    }
}

#[test]
fn d3_denied_promise_is_none() {
    for text in [
        "I will not write <promise>DONE</promise> yet.",
        "I won't write <promise>DONE</promise>",
        "I won’t write <promise>DONE</promise>",
        "Two tests fail, so <promise>DONE</promise> would be a lie.",
        "When the tests pass I will write <promise>DONE</promise>.",
        "<promise>DONE</promise> is what I may not say.",
        "<promise>DONE</promise>\nis what I may not say yet",
        "Three tasks are open, so I do not yet write\n<promise>DONE</promise>",
        "I cannot write: <promise>DONE</promise> before it works",
        "`<promise>DONE</promise>`",
        "The marker is `<promise>DONE</promise>`, and two tasks are open.",
        "The marker is ``<promise>DONE</promise>``.",
        "The marker is `the text <promise>DONE</promise> here`.",
        "The marker is \"<promise>DONE</promise>\".",
        "The marker is “<promise>DONE</promise>”.",
        "> Only when all is done, write <promise>DONE</promise>",
        "The marker:\n```\n<promise>DONE</promise>\n```",
        "```\n<promise>DONE</promise>\n```\nis the marker",
        "~~~text\n<promise>DONE</promise>\n~~~\nis the marker",
        "```\n<promise>DONE</promise>",
        "- what is asked for:\n  ```\n  <promise>DONE</promise>\n  ```",
        "<!--\n<promise>DONE</promise>\n-->",
    ] {
        assert_eq!(anywhere(text), Promise::Mentioned, "{text}");
    }
}

#[test]
fn promise_beside_denied_one_counts() {
    let text =
        format!("I said I would not write `{MARKER}` too early.\n\nNow all is done.\n\n{MARKER}\n");
    assert_eq!(anywhere(&text), Promise::Kept);
}

#[test]
fn e5_only_its_clause_denies() {
    for text in [
        "I did not leave anything open <promise>DONE</promise>",
        "The parser doesn't crash any more <promise>DONE</promise>",
        "When I ran the tests, all passed <promise>DONE</promise>",
        "I did not skip a test, and all is done <promise>DONE</promise>",
        "All is done without a warning <promise>DONE</promise>",
        "I never stopped until it was done <promise>DONE</promise>",
        "```\nAll 14 tests pass.\n<promise>DONE</promise>\n```",
    ] {
        assert_eq!(anywhere(text), Promise::Kept, "{text}");
    }
    for text in [
        "The work is not done <promise>DONE</promise>",
        "I haven't finished <promise>DONE</promise>",
        "Not yet <promise>DONE</promise>",
        "I am not going to claim <promise>DONE</promise>",
        "If all tests passed I could say <promise>DONE</promise>",
        "```\nI will not write <promise>DONE</promise>\n```",
    ] {
        assert_eq!(anywhere(text), Promise::Mentioned, "{text}");
    }
}

/// `M` stands for the marker.
fn said(text: &str) -> Promise {
    anywhere(&text.replace('M', MARKER))
}

#[test]
fn whoever_talks_of_it_makes_none() {
    let all = [
        "No M for now",
        "No M yet",
        "not M",
        "Still failing, hence no M",
        "Two tests fail, so: no M.",
        "M? No",
        "M? Not before the review.",
        "Should I say M?",
        "Is it time for M?",
        "~~M~~",
        "~~all is done M~~",
        "<del>M</del>",
        "- [ ] output M",
        "1. [ ] all done M",
        "- [ ] M",
        "- [ ] say\n  M",
        "* [-] M",
        "Only then:\n\n    M",
        "as asked:\n\n\tM\n",
        "As soon as the tests pass, M",
        "Once the last two tests pass: M",
        "When the tests pass, then M",
        "If the review is good, M.",
        "Tests are red, and once they pass, M",
        "Only when the build is green M",
        "I cannot output the promise:\n\nM",
        "I can't give you this yet:\nM",
        "I will not write the completion promise\nM",
        "I am not able to say M",
        "I do not want to claim M.",
        "It is too early for M",
        "It would be premature to output M",
        "M would be premature",
        "M is premature",
        "M is not something that I can say",
        "M follows when the review is done",
        "M I cannot say.",
        "M once all is green",
        "M, but only when CI is green, not before",
        "M comes later",
        "M not yet",
        "M — not yet",
        "M, once the review is through",
        "I will say M later",
        "I'd write M if the tests passed",
        "Almost M",
        "Not yet: M",
        "Without M for today",
        "I withhold M",
        "I refuse to output M",
        "I am unable to say M",
        "The work is incomplete M",
        "Two tests still fail M",
        "The work isn't finished, but M",
        "Not all tasks are complete M",
        "None of the tasks is done M",
        "Noch kein M",
        "Noch nicht: M",
        "Ich kann M noch nicht ausgeben",
        "Ich kann noch nicht M schreiben",
        "Ich schreibe M nicht",
        "Die Arbeit ist noch nicht fertig M",
        "Sobald die Tests laufen, M",
        "M schreibe ich noch nicht",
        "Je ne peux pas écrire M",
        "Pas encore de M",
        "Pas de M pour le moment",
        "Le travail n'est pas fini M",
        "Quand tout sera fini, M",
        "Todavía no puedo escribir M",
        "\"All is done M\" is what I may say later",
        "The loop ends with 'M'.",
        "> all done M",
        "<code>M</code> ends it",
    ];
    let kept: Vec<_> = all.iter().filter(|text| said(text) == Promise::Kept).collect();
    assert!(kept.is_empty(), "{} of {} are kept: {kept:#?}", kept.len(), all.len());
}

#[test]
fn honest_denial_refuses_nothing() {
    let all = [
        "M",
        "  M  ",
        "**M**",
        "# M",
        "- M",
        "- [x] all is done M",
        "Everything that was not finished is finished now M",
        "Users cannot write to /etc any more M",
        "The log never prints secrets, all done M",
        "It prints no secrets, all done M",
        "Nobody can print here any more, and the tests pass M",
        "No release is published yet, as you asked. M",
        "It handles a premature end of the file now M",
        "The premature exit is gone M",
        "Nothing is left to be done M",
        "Nothing is missing M",
        "No task remains open M",
        "0 tests fail M",
        "No test fails, no warning is left: M",
        "All tests pass, not one is skipped M",
        "All is done, without a change to the API: M",
        "Not a single test fails.\n\nM",
        "I could not find a single open task. M",
        "I did not leave anything unfinished M",
        "Nothing is incomplete M",
        "There is no task that is not done M",
        "It does not crash any more.\nM",
        "It works as before M",
        "All is done at once M",
        "The parser can't be confused by quotes now M",
        "When I ran the tests, all passed M",
        "After the fix no test fails M",
        "Before, two tests failed; now all pass. M",
        "All 12 tests pass, so I output M",
        "All is done, therefore M",
        "I can now say M",
        "Here is the promise:\n\nM",
        "As requested: M",
        "Open tasks: none. M",
        "M — no open task is left",
        "M — not a single test fails",
        "M (all tests pass, nothing is skipped)",
        "M\n\nNothing else has to be done.",
        "M All 12 tests pass.",
        "- docs: not changed, by design\n- tests: pass\nM",
        "What I did not do: nothing.\n\nM",
        "The \"sum\" works, the \"total\" as well M",
        "Is there anything left? No. M",
        "The user doesn't have to wait until it's done M",
        "I never skipped a test and all of them pass M",
        "Secrets are never printed now M",
        "If the file is missing, it says so M",
        "It asks once, then stops M",
        "Alles ist fertig M",
        "Kein Test schlägt mehr fehl, alles ist fertig: M",
        "Tout est fini M",
        "Todo está listo M",
        "完成了。M",
        "All done ✅ M",
    ];
    let refused: Vec<_> = all.iter().filter(|text| said(text) != Promise::Kept).collect();
    assert!(refused.is_empty(), "{} of {} are refused: {refused:#?}", refused.len(), all.len());
}

#[test]
fn irreversible_acts_are_personal() {
    let all = [
        "May I deploy it to production?",
        "All is built.\n\n**Shall I deploy to production?**",
        "Should I push to main? (yes/no)",
        "Shall I push this to main?\n\n1. Yes\n2. No",
        "Do you want me to drop the database?\n- yes\n- no, keep it",
        "OK to spend $40 on this?",
        "This run costs about $40. Shall I?",
        "Ready to publish v2.0 to npm? [y/N]",
        "Would you like me to release 1.4.0 now?",
        "Deploy to staging?",
        "### Push now?",
        "> Should I delete the production bucket?",
        "`Delete all user data?`",
        "Is it fine if I force-push?",
        "Can I go ahead and publish?",
        "Should I commit and push?",
        "Do you approve the deployment?",
        "Shall I proceed with the release?",
        "I would now drop the table `users`. Shall I?",
        "I will then push to main. OK?",
        "Shall I merge it to main?",
        "Should I run the migration against production?",
        "May I revoke the old keys?",
        "Are you okay with me to wipe the disk?",
        "Can you provide the API key?",
        "What is the password for the staging server?",
        "Could you set the API_TOKEN?",
        "Do you have the credentials for npm?",
        "Should I buy the domain?\nPlease answer yes or no.",
        "Shall I deploy?\n\nA) now\nB) tomorrow\nC) never",
        "Please confirm that I may deploy to production.",
        "I need your approval to publish the package.",
        "Waiting for your go-ahead to push.",
        "Should I delete the old branch on the server? I wait for your answer.",
    ];
    let missed: Vec<_> = all.iter().filter(|text| asks_approval(text).is_none()).collect();
    assert!(missed.is_empty(), "{} of {} are missed: {missed:#?}", missed.len(), all.len());
}

#[test]
fn small_talk_waits_for_nobody() {
    let all = [
        "Shall I go on?",
        "Should I continue with the next task?",
        "Which tokenizer should I use?",
        "Should the tokenizer skip blanks?",
        "Should I update the release notes?",
        "Do the release notes look fine?",
        "Should I remove the unused import?",
        "Should I delete the unused import?",
        "Should the delete button be red?",
        "Which deploy script do you prefer?",
        "Should the payload be JSON?",
        "Do you like the name `PaymentService`?",
        "Should I rename `deploy.sh`?",
        "Should I add a drop shadow?",
        "Should the token expire after an hour?",
        "Do you want the token to expire?",
        "Should the login mask the password?",
        "Why did I delete it?",
        "Is the publisher's name right?",
        "Should I drop the prefix?",
        "Should I release the lock earlier?",
        "Should we pay attention to case?",
        "What should the secret word be called?",
        "Shall I also test the push handler?",
        "Should I send a 404?",
        "Should I merge the two helpers?",
        "Do you want a list?\n- deployed\n- released",
        "I deployed nothing. Shall I go on?",
        "I deleted the helper. Is that what you want?",
        "Should I push? I think not, because the tests fail. Next is T004.",
        "All is released.",
        "The release notes are complete.",
        "I confirm that the tests pass.",
        "Does deleting a user work as it should?",
        "",
    ];
    let waited: Vec<_> = all.iter().filter(|text| asks_approval(text).is_some()).collect();
    assert!(waited.is_empty(), "{} of {} wait: {waited:#?}", waited.len(), all.len());
}

#[test]
fn e5_exact_takes_the_marker_anywhere() {
    let exact = |text: &str| promise(Some("DONE"), PromiseMatch::Exact, text);
    for text in ["```\n<promise>DONE</promise>", "I will not write <promise>DONE</promise>"] {
        assert_eq!((exact(text), anywhere(text)), (Promise::Kept, Promise::Mentioned), "{text}");
    }
    assert_eq!(exact("<promise>done</promise>"), Promise::Missing);
    let old: PromiseMatch = serde_json::from_str("\"own-line\"").unwrap();
    assert_eq!(old, PromiseMatch::Anywhere);
}

#[test]
fn an_empty_promise_is_never_kept() {
    assert_eq!(promise(Some(""), PromiseMatch::Anywhere, "<promise></promise>"), Promise::Missing);
    assert_eq!(promise(None, PromiseMatch::Anywhere, MARKER), Promise::Missing);
}

#[test]
fn need_begins_an_uncoded_line() {
    assert_eq!(blocked("I stop.\n<blocked>set API_KEY</blocked>"), Some("set API_KEY"));
    assert_eq!(blocked("  <blocked>\nset it\n</blocked>\nBye."), Some("set it"));
    assert_eq!(blocked("<blocked>a</blocked>\n<blocked>b</blocked>"), Some("b"));
    // What denies a promise is why an agent is blocked.
    for above in
        ["I could not finish T001 without the key:", "Remaining:", "## Not done: T001, T002"]
    {
        for line in ["<blocked>a</blocked>", "**<blocked>a</blocked>**", "1. <blocked>a</blocked>"]
        {
            assert_eq!(blocked(&format!("{above}\n\n{line}")), Some("a"), "{above} {line}");
        }
    }
    for text in [
        "I do not say <blocked>x</blocked> yet",
        "<blocked></blocked>",
        "<blocked>never closed",
        "</blocked>\n<blocked>",
        "```\n<blocked>x</blocked>\n```",
        "`<blocked>x</blocked>`",
        "All done. The parser reads <blocked>need</blocked> tags now.",
        "The last iteration ended with <blocked>give me the key</blocked>. T001 is done.",
        "> <blocked>x</blocked>",
    ] {
        assert_eq!(blocked(text), None, "{text}");
    }
}

#[test]
fn d3_fenced_signal_is_quoted() {
    assert!(stands_alone("Done.\n\nALL_DONE", "ALL_DONE"));
    assert!(stands_alone(" ALL_DONE \nBye.", "ALL_DONE"));
    assert!(!stands_alone("```\nALL_DONE\n```", "ALL_DONE"));
    assert!(!stands_alone("not ALL_DONE", "ALL_DONE"));
}

#[test]
fn many_markers_stay_cheap() {
    let many = format!("not {MARKER} ").repeat(20_000);
    assert_eq!(anywhere(&many), Promise::Mentioned);
}

#[test]
fn no_text_breaks_the_reading() {
    let pieces = [
        "\n",
        "`",
        "```",
        "~~~",
        "> ",
        "é",
        "“",
        MARKER,
        "not",
        ". ",
        "<!--",
        "-->",
        "<blocked>",
        "\r",
        "\u{feff}",
        " ",
    ];
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let _ = (anywhere(&text), blocked(&text), stands_alone(&text, MARKER));
    }
}

#[test]
fn no_change_has_its_line() {
    let said = |text: &str| said_of_tasks(text, "no-change");
    let one = |id: &str, why: &str| vec![(id.to_owned(), why.to_owned())];
    let line = "<no-change>T004: it is there: see src/a.rs</no-change>";
    assert_eq!(said(line), one("T004", "it is there: see src/a.rs"));
    assert_eq!(said(&format!("Done.\n  {line}  \n")), one("T004", "it is there: see src/a.rs"));
    for text in [
        "<no-change>T004: why</no-change>",
        "<no-change>T004: </no-change>",
        "<no-change>T004: n/a</no-change>",
        "<no-change>: it is there</no-change>",
        "<no-change>it is there</no-change>",
        "Write `<no-change>T004: it is there</no-change>`.",
        "```\n<no-change>T004: it is there</no-change>\n```",
        "<no-change>T004: it is there",
    ] {
        assert_eq!(said(text), [], "{text}");
    }
}

#[test]
fn reason_exceeds_a_word() {
    for text in [
        "already there",
        "it is there",
        "not needed",
        "see src/a.rs",
        "уже есть",
        "已经有了",
        "すでにある",
    ] {
        assert!(is_reason(text), "{text}");
    }
    for text in [
        "",
        " ",
        "x",
        "why",
        "done",
        "n/a",
        "unnecessary",
        "überflüssig",
        "ненужно",
        "готово",
        "- - - -",
        "...",
        "a b c",
        "xxxxx xxxxx",
        "\u{200b}\u{200b}\u{200b}\u{200b}",
        "\u{3164}\u{3164} \u{3164}\u{115f}",
        "\u{202e}\u{2066} x y",
    ] {
        assert!(!is_reason(text), "{text:?}");
    }
}
