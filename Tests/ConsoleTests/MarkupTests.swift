import API
import Console
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

/// Expects texts from people and stores to appear as plain text in each place.
@Suite("Texts on pages", .timeLimit(.minutes(20)))
struct MarkupTests {
    /// Each text, and the part of it that a person can read.
    static let texts: [(text: String, shown: String)] = [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\"><img src=x onerror='y'>", "&quot;&gt;&lt;img src=x onerror=&#39;y&#39;&gt;"),
        ("&lt;b&gt;&amp;", "&amp;lt;b&amp;gt;&amp;amp;"),
        ("ann\u{202E}nimda", "ann[U+202E]nimda"),
        ("a\u{2067}b\u{2069}c\u{200F}", "a[U+2067]b[U+2069]c[U+200F]"),
        (String(repeating: "🦊", count: 64), String(repeating: "🦊", count: 64)),
        ("👨‍👩‍👧 ü ﷽", "👨‍👩‍👧 ü ﷽"),
    ]

    @Test("Between tags a text is escaped, and marks of direction are named", arguments: texts)
    func between(_ text: String, _ shown: String) {
        let markup: Markup = "<p>\(text)</p>"
        #expect(markup.html == "<p>\(shown)</p>")
        #expect(Markup.text(text).html == shown)
    }

    @Test("In an attribute a text keeps every character", arguments: texts)
    func attribute(_ text: String, _ shown: String) {
        let markup: Markup = "<input value=\"\(value: text)\">"
        let inner = markup.html.dropFirst(14).dropLast(2)
        #expect(!inner.contains("\"") && !inner.contains("<"))
        #expect(!inner.unicodeScalars.contains { $0.value == 0x202E })
        #expect(String(inner).unescaped == text)
    }

    @Test("Each page shows a hostile text as text, in each place", arguments: texts)
    func places(_ text: String, _ shown: String) throws {
        let desk = try Desk()
        let browser = try desk.visitor("ann@example.com", .admin)
        // New ids may not contain invisible formatting characters.
        let improper = text.unicodeScalars.contains { $0.properties.generalCategory == .format }
        let customer = improper ? "u1" : text
        let path = "/v1/customers/\(Browser.escaped(customer))/grants"
        let body: JSON = [
            "entitlement": "pro", "for": "P1D", "reason": .string(text), "ticket": "T-1",
        ]
        let given = desk.service.send("POST", path, key: desk.admin, body: body.text)
        #expect(given.status == 201, "\(given.text)")
        let place = "/console/p/default/customers/\(Browser.escaped(customer))"
        let word = Browser.escaped(text)
        for target in [
            place, "\(place)/grant?entitlement=\(word)&reason=\(word)",
            "/console/p/default/trail", "/console/p/default/find?q=\(word)",
        ] {
            let page = browser.get(target)
            if target.contains("find"), page.status == 303 { continue }
            let told = "\(target): \(page.text)"
            #expect(page.status == 200, "\(told)")
            #expect(!page.text.contains("<script>alert"), "\(told)")
            #expect(!page.text.contains("<img"), "\(told)")
            #expect(!page.text.unicodeScalars.contains { $0.value == 0x202E }, "\(told)")
            #expect(
                page.text.contains(shown) || page.text.unescaped.contains(text), "\(told)")
        }
        // A refused form comes back with the text that the person wrote.
        _ = browser.get("\(place)/grant")
        let refused = browser.post(
            "\(place)/grant",
            ["entitlement": text, "for": "P1D", "reason": text, "step": "show"])
        #expect(refused.status == 400, "\(refused.text)")
        #expect(!refused.text.contains("<script>alert") && !refused.text.contains("<img"))
    }
}
