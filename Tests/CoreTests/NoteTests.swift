import Core
import Histories
import Testing

@Suite("Notes")
struct NoteTests {
    @Test(
        "A note has readable words, in several lines if need be",
        arguments: [
            ("plays on two phones", true), ("one\ntwo\tthree", true), ("Ä 🎮", true),
            (String(repeating: "a", count: 2000), true), ("", false), (" \n\t ", false),
            (String(repeating: "a", count: 2001), false),
            (String(repeating: "ä", count: 1001), false), ("bell\u{7}", false),
            ("nul\u{0}", false), ("return\r\n", false),
        ])
    func words(_ text: String, _ isTaken: Bool) {
        #expect(((try? NoteText(text)) != nil) == isTaken)
    }

    private func add(_ name: String, to state: inout CustomerState) throws {
        let added = NoteAdded(note: id(name), text: try NoteText("about \(name)"), ticket: nil)
        for event in try state.decide(added) { state.apply(event) }
    }

    private func removal(_ name: String) -> NoteRemoved {
        NoteRemoved(note: id(name), reason: id("old"), ticket: nil)
    }

    @Test("Notes stand in the order of their giving, and a removed one is gone")
    func order() throws {
        var state = CustomerState()
        for name in ["a", "b", "c"] { try add(name, to: &state) }
        for event in try state.decide(removal("b")) { state.apply(event) }
        #expect(state.notes.map(\.id.text) == ["a", "c"])
        #expect(throws: Refusal.note(.unknown(id("b")))) { try state.decide(removal("b")) }
    }

    @Test("The limit is 200; after a removal there is room for one more")
    func limit() throws {
        var state = CustomerState()
        for number in 0..<200 { try add("n\(number)", to: &state) }
        #expect(throws: Refusal.note(.tooMany(limit: 200))) { try add("more", to: &state) }
        for event in try state.decide(removal("n7")) { state.apply(event) }
        try add("more", to: &state)
        #expect(state.notes.count == 200)
    }

    @Test("No answer about access changes, and an erasure takes the words")
    func nothingFollows() throws {
        var state = CustomerState()
        try add("a", to: &state)
        #expect(state.entitlements(at: at(1), catalog: shop)[id("pro")] == nil)
        state.apply(.customerErased(CustomerErased(reason: id("r"), ticket: nil)))
        #expect(state.notes == [])
    }
}
