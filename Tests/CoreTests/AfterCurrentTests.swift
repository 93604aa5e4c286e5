import Core
import Histories
import Testing

/// Tests grants that start after current access. Days count from 1 January 2026.
@Suite("Grants after the present access")
struct AfterCurrentTests {
    /// An example, and when its waiting grants of "pro" should give access.
    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var facts: [TransactionFact] = []
        var plain: [(from: Int64, until: Int64?)] = []
        /// When each grant was given, and its length in days.
        let waiting: [(given: Int64, days: Int64)]
        /// When the grant gives access; `nil` if it never starts.
        let expected: [(from: Int64, until: Int64)?]
    }

    private static func month(
        _ name: String, _ start: Int64, _ end: Int64,
        _ change: (inout TransactionFact) -> Void = { _ in }
    ) -> TransactionFact {
        transaction(name, of: "m1", "pro", .autoRenewable, at(start), to: at(end), change)
    }

    static let examples = [
        Example(
            testDescription: "Without other access it begins when it is given",
            waiting: [(10, 5)], expected: [(10, 15)]),
        Example(
            testDescription: "It begins when the period that runs has expired",
            facts: [month("m1", 0, 30)], waiting: [(10, 5)], expected: [(30, 35)]),
        Example(
            testDescription: "A period that expires at that instant is over",
            facts: [month("m1", 0, 30)], waiting: [(30, 5)], expected: [(30, 35)]),
        Example(
            testDescription: "A renewal that is told later moves it, however late",
            facts: [month("m1", 0, 30), month("m2", 30, 60)], waiting: [(10, 5)],
            expected: [(60, 65)]),
        Example(
            testDescription: "Access that begins after its start does not interrupt it",
            facts: [month("m1", 0, 30), month("m2", 32, 62)], waiting: [(10, 5)],
            expected: [(30, 35)]),
        Example(
            testDescription: "A refund brings it forward, but not before it was given",
            facts: [
                month("m1", 0, 30) { $0.revocation = refund(at: at(20)) }
            ], waiting: [(10, 5), (25, 5)], expected: [(20, 25), (25, 30)]),
        Example(
            testDescription: "A refund from before it was given lets it begin when it was given",
            facts: [
                month("m1", 0, 30) { $0.revocation = refund(at: at(5)) }
            ], waiting: [(10, 5)], expected: [(10, 15)]),
        Example(
            testDescription: "Two follow each other in the order in which they were given",
            facts: [month("m1", 0, 30)], waiting: [(10, 5), (11, 7)],
            expected: [(30, 35), (35, 42)]),
        Example(
            testDescription: "It waits for grants, too",
            plain: [(0, 20), (20, 25)], waiting: [(10, 5)], expected: [(25, 30)]),
        Example(
            testDescription: "Behind what has no end it never begins",
            plain: [(0, nil)], waiting: [(10, 5), (11, 5)], expected: [nil, nil]),
        Example(
            testDescription: "What lasted before it was given does not matter",
            plain: [(0, 5)], waiting: [(10, 5)], expected: [(10, 15)]),
        Example(
            testDescription: "One fills a gap, and the next one waits behind what comes after it",
            plain: [(0, 12), (15, 20)], waiting: [(10, 3), (11, 5)],
            expected: [(12, 15), (20, 25)]),
    ]

    @Test("It begins at the first instant that nothing else covers", arguments: examples)
    func begins(_ example: Example) {
        let state = state(of: example)
        let bounds = state.grantBounds(by: shop).suffix(example.waiting.count)
        #expect(
            bounds.map(\.start) == example.expected.map { $0.map { at($0.from) } },
            "\(example.testDescription)")
        for (bounds, expected) in zip(bounds, example.expected) {
            guard let expected else { continue }
            #expect(bounds.end == at(expected.until))
            #expect(state.has("pro", at: at(expected.from)))
            #expect(state.has("pro", at: at(expected.until, -1)))
        }
    }

    @Test("Its first instant and its last are given by it, and the ones around them are not")
    func boundary() throws {
        var state = CustomerState()
        state.record(facts([Self.month("m1", 0, 30)]))
        state.wait("w", since: 10, days: 5)
        for (instant, source, isActive) in [
            (at(30, -1), "purchase", true), (at(30), "grant", true), (at(35, -1), "grant", true),
            (at(35), "grant", false),
        ] {
            let answer = try #require(state.entitlements(at: instant, catalog: shop)[id("pro")])
            #expect(answer.source.name == source, "\(instant.text)")
            #expect(answer.isActive == isActive, "\(instant.text)")
            #expect(answer.run == Interval(start: at(0), end: at(35)))
        }
        #expect(
            state.entitlements(at: at(20), catalog: shop).nextChange == at(30))
    }

    @Test("One that is revoked before it begins gives nothing, and no other waits for it")
    func revoked() {
        var state = CustomerState()
        state.record(facts([Self.month("m1", 0, 30)]))
        state.wait("w1", since: 10, days: 5)
        state.wait("w2", since: 11, days: 7)
        state.apply(
            .grantRevoked(
                GrantRevoked(
                    grant: id("w1"), entitlement: id("pro"), at: at(12), reason: id("r"),
                    ticket: nil)))
        #expect(state.grantBounds(by: shop).last?.start == at(30))
        #expect(state.has("pro", at: at(37, -1)))
        #expect(!state.has("pro", at: at(37)))
    }

    private func state(of example: Example) -> CustomerState {
        var state = CustomerState()
        for (index, grant) in example.plain.enumerated() {
            state.apply(
                .grantGiven(
                    GrantGiven(
                        grant: id("p\(index)"), entitlement: id("pro"), start: at(grant.from),
                        end: grant.until.map { at($0) }, reason: id("r"), ticket: nil)))
        }
        for (index, grant) in example.waiting.enumerated() {
            state.wait("w\(index)", since: grant.given, days: grant.days)
        }
        // Facts may arrive after everything that support did.
        for fact in example.facts { state.record(facts([fact])) }
        return state
    }
}

extension CustomerState {
    fileprivate mutating func wait(_ name: String, since start: Int64, days: Int64) {
        apply(
            .grantGiven(
                GrantGiven(
                    grant: id(name), entitlement: id("pro"), start: at(start), end: nil,
                    afterCurrent: .days(days), reason: id("r"), ticket: nil)))
    }

    fileprivate func has(_ name: String, at instant: Instant) -> Bool {
        entitlements(at: instant, catalog: shop)[id(name)]?.isActive ?? false
    }
}
