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

    @Test("It explains what was recorded under the account and the date that Xcode wrote")
    func xcode() throws {
        func fact(_ account: String, _ date: Instant?) throws -> AppFact {
            var fact = installation("1.0", on: at(0), signed: at(1))
            fact.appTransaction = try AppTransactionID(account)
            fact.originallyPurchased = date
            return fact
        }
        let written = Instant(milliseconds: -62_135_769_600_000)
        var now = Facts()
        now.apps = [try fact("xcode-1a2b3c4d-0", nil)]
        for (account, date, isTold) in [
            ("0", written, true), ("0", nil, true), ("0", at(0), false), ("1", written, false),
        ] {
            var before = Facts()
            before.apps = [try fact(account, date)]
            #expect(now.explain(before) == isTold, "\(account)")
        }
        var read = Self.readBefore
        read.appTransaction = try AppTransactionID("xcode-1a2b3c4d-0")
        var before = Self.readBefore
        before.appTransaction = try AppTransactionID("0")
        #expect(facts([read]).explain(facts([before])))
        #expect(!facts([before]).explain(facts([read])))
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
