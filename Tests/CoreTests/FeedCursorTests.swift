import Core
import Histories
import Testing

@Suite("Cursors of the feed")
struct FeedCursorTests {
    private let project: ProjectID
    private let losses: AcceptedLosses

    init() throws {
        project = try ProjectID("default")
        losses = AcceptedLosses([try AcceptanceID("ac_1")])
    }

    private func cursor(_ place: [Int64], turn: Int = 0) -> FeedCursor {
        FeedCursor(
            place, marks: PlaceMarks((0..<64).map { UInt64($0) }), turn: turn,
            givenAt: Instant(milliseconds: 1_795_202_460_000),
            origin: Instant(milliseconds: 1_795_000_000_000), losses: losses)
    }

    @Test("A written cursor reads back, however large its places, and is never too long")
    func roundTrip() throws {
        var random = SeededGenerator(seed: printedSeed(of: "cursors"))
        for bits in 0...63 {
            let place = (0..<Shard.count).map { _ in Int64(random.next() >> UInt64(1 + bits)) }
            let given = cursor(place, turn: bits)
            let text = given.text(for: project)
            #expect(text.utf8.count <= FeedCursor.lengthLimit)
            #expect(text.utf8.allSatisfy { $0 > 0x2C && $0 < 0x7B })
            #expect(try FeedCursor(text, of: project) == given)
        }
        let most = cursor([Int64](repeating: .max, count: Shard.count), turn: 63)
        #expect(most.text(for: project).utf8.count <= FeedCursor.lengthLimit)
    }

    @Test("A cursor with any letter changed, added or missing is broken")
    func broken() throws {
        let text = cursor((0..<64).map { Int64($0 * 1000) }).text(for: project)
        for place in text.indices {
            for letter in ["A", "b", "_", " ", "é"] where !text[place...].hasPrefix(letter) {
                let changed = text[..<place] + letter + text[text.index(after: place)...]
                #expect(throws: InvalidCursor.broken) {
                    try FeedCursor(String(changed), of: project)
                }
            }
            let shorter = text[..<place] + text[text.index(after: place)...]
            #expect(throws: InvalidCursor.self) { try FeedCursor(String(shorter), of: project) }
        }
        for other in ["", "A", text + "A", String(repeating: "A", count: 2000), "end ", "17:4"] {
            #expect(throws: InvalidCursor.broken) { try FeedCursor(other, of: project) }
        }
    }

    @Test("Another project's cursor is distinguished from a broken one")
    func foreign() throws {
        let text = cursor([Int64](repeating: 5, count: 64)).text(for: try ProjectID("other"))
        #expect(throws: InvalidCursor.ofAnotherProject) { try FeedCursor(text, of: project) }
    }

    @Test("Accepted losses are distinguished from others, and from none")
    func acceptances() throws {
        let (one, two) = (try AcceptanceID("ac_1"), try AcceptanceID("ac_2"))
        let all = [[], [one], [two], [one, two], [two, one]].map { AcceptedLosses($0) }
        #expect(Set(all).count == all.count)
    }
}

@Suite("The types in a reader's filter")
struct FeedTypesTests {
    @Test("Names, families and changes are read from one list")
    func list() throws {
        let types = try FeedTypes("purchase.made,subscription.*,entitlement.ended")
        for type in ["purchase.made", "subscription.renewed", "subscription.extended"] {
            #expect(types.include(type, []))
        }
        #expect(!types.include("purchase.refunded", []) && !types.include("access.ended", []))
        // A reader may want an event because it changes access.
        #expect(types.mayInclude("access.ended") && types.dependOnAccess)
        let plain = try FeedTypes("grant.given")
        #expect(!plain.mayInclude("access.ended") && !plain.dependOnAccess)
        #expect(try FeedTypes("entitlement.*").dependOnAccess)
    }

    @Test(
        "An unknown type is refused with the nearest name",
        arguments: [
            ("purchase.mad", "purchase.made"), ("grants.*", "grant.*"),
            ("entitlement.end", "entitlement.ended"), ("purchase.made,acess.ended", "access.ended"),
            ("catalog.changed", nil), ("", nil), ("*", nil), (".*", nil), ("purchase.made,", nil),
        ])
    func unknown(_ text: String, _ nearest: String?) {
        let error = #expect(throws: UnknownFeedType.self) { try FeedTypes(text) }
        if let nearest { #expect(error?.nearest == nearest) }
    }
}
