import Core
import Histories
import Testing

@Suite("New ids")
struct ProperFormTests {
    @Test(
        "An id that could be confused with another is refused as new, with the reason",
        arguments: [
            ("a\u{202E}b", "U+202E"), ("a\u{2066}b", "U+2066"), ("a\u{200B}b", "U+200B"),
            ("a\u{200D}b", "U+200D"), ("\u{FEFF}a", "U+FEFF"), ("a\u{AD}b", "U+00AD"),
            ("a\u{34F}b", "U+034F"), ("a\u{3164}", "U+3164"), ("a\u{E0041}", "U+E0041"),
            ("a\u{378}", "U+0378"), ("e\u{301}", "NFC"), ("\u{212B}", "NFC"),
            ("a\u{2800}", "U+2800"), ("a\u{A0}b", "U+00A0"), ("a\u{2003}b", "U+2003"),
            ("a\u{3000}b", "U+3000"), ("\u{1100}\u{1161}", "NFC"), ("a\u{301}\u{323}", "NFC"),
        ])
    func improper(_ text: String, _ words: String) throws {
        #expect {
            try CustomerID(new: text)
        } throws: { "\($0)".contains(words) }
        // Deed can still read such ids from the log.
        #expect(try CustomerID(text).text.utf8.elementsEqual(text.utf8))
    }

    @Test(
        "Every script and plain text is accepted",
        arguments: [
            "u1", "a b", "\u{E9}", "\u{AC00}", "日本", "مرحبا", "नमस्ते", "😀", "\u{E000}", "x\u{301}",
        ])
    func proper(_ text: String) throws {
        #expect(try CustomerID(new: text).improperForm == nil)
    }

    @Test("Reasons are prose, and keep the joiners that their script needs")
    func prose() throws {
        #expect(try Reason(new: "می\u{200C}خواهم").text.isEmpty == false)
    }

    @Test("A new customer needs a proper id, and a known one does not")
    func customers() throws {
        let odd: CustomerID = id("e\u{301}")
        let stream = Stream(project: id("default"), environment: .production, customer: odd)
        let command = Command.customer(
            stream, actor: id("test"), cause: Cause(text: "c", digest: [])
        ) { state, _, _ throws(Refusal) in
            try state.decide(
                AdjustBalance(currency: id("coins"), amount: 5, reason: id("r"), ticket: nil))
        }
        func situation(_ state: CustomerState) -> Situation {
            Situation(now: at(0), project: ProjectState(), states: [odd: state])
        }
        #expect {
            try command.decide(situation(CustomerState()))
        } throws: { ($0 as? Refusal)?.sentence.contains("e<U+0301>") == true }
        var known = CustomerState()
        known.record(facts([transaction("1", "level2", .nonConsumable, at(0))]))
        #expect(try command.decide(situation(known)).parts.count == 1)
        let elsewhere = Situation(
            now: at(0), project: ProjectState(), states: [:], knownElsewhere: [odd])
        #expect(try command.decide(elsewhere).parts.count == 1)
    }

    @Test("A catalog may keep an old id and add none like it")
    func catalogs() throws {
        func catalog(_ names: String...) throws -> Catalog {
            var draft = CatalogDraft()
            draft.entitlementTitles = Dictionary(uniqueKeysWithValues: names.map { (id($0), "t") })
            return try draft.validated()
        }
        var project = ProjectState()
        project.apply(.projectCreated(ProjectCreated(project: id("default"))), recordedAt: at(0))
        let old = try catalog("e\u{301}")
        project.apply(.catalogChanged(CatalogChanged(version: 1, catalog: old)), recordedAt: at(0))
        let kept = try catalog("e\u{301}", "pro")
        #expect(try project.change(to: kept, of: id("default")).count == 1)
        try kept.requireProperForm(of: .entitlement(id("e\u{301}")))
        let added = try catalog("e\u{301}", "a\u{200B}")
        #expect(throws: Refusal.self) { try project.change(to: added, of: id("default")) }
    }
}
