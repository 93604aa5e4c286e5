import Auditing
import Core
import Histories
import Testing

/// Events that an earlier release wrote lack what that release did not read of the same evidence.
@Suite("Facts of an earlier release")
struct EarlierFactTests {
    static let read = transaction("1", "pro", .autoRenewable, at(0), to: at(30)) {
        $0.unknownKind = "Suite"
    }
    static let readBefore = transaction("1", "pro", .autoRenewable, at(0), to: at(30))

    @Test("Evidence explains the event that was written before all of it was read")
    func explains() {
        #expect(facts([Self.read]).explain(facts([Self.read])))
        #expect(facts([Self.read]).explain(facts([Self.readBefore])))
    }

    @Test("and no event that tells what it does not state")
    func refutes() {
        #expect(!facts([Self.readBefore]).explain(facts([Self.read])))
        var other = Self.readBefore
        other.expires = at(31)
        #expect(!facts([Self.read]).explain(facts([other])))
    }

    @Test("The same evidence that comes again after the upgrade is no news")
    func repeated() {
        var state = CustomerState(recording: [facts([Self.readBefore])])
        #expect(state.record(facts([Self.read])) == [])
    }
}
