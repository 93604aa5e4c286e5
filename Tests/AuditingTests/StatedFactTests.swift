import Auditing
import Core
import Histories
import Testing

@Suite("Events and what their evidence states")
struct StatedFactTests {
    static let stated = transaction("1", "pro", .autoRenewable, at(0), to: at(30)) {
        $0.unknownKind = "Suite"
    }

    @Test("Evidence explains an event with its facts, in whatever form it came")
    func explains() {
        #expect(facts([Self.stated]).explain(facts([Self.stated])))
        var told = Self.stated
        told.rank = .notification
        #expect(facts([Self.stated]).explain(facts([told])))
    }

    @Test("and no event that says more, less or something else")
    func refutes() {
        var less = Self.stated
        less.unknownKind = nil
        #expect(!facts([less]).explain(facts([Self.stated])))
        #expect(!facts([Self.stated]).explain(facts([less])))
        var other = Self.stated
        other.expires = at(31)
        #expect(!facts([Self.stated]).explain(facts([other])))
    }
}
