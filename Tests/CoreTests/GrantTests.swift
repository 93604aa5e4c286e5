import Core
import Histories
import Testing

@Suite("Entitlements from grants")
struct GrantTests {
    /// A grant with its start and end in days. Without an end, it lasts forever.
    struct Given: Sendable {
        let start: Int64
        let end: Int64?
        var revoked: Int64?

        init(_ start: Int64, _ end: Int64?, revoked: Int64? = nil) {
            self.start = start
            self.end = end
            self.revoked = revoked
        }
    }

    /// The expected answer at an instant, also in days.
    struct Expected: Sendable {
        let label: String
        let grants: [Given]
        let at: Int64
        let isActive: Bool
        let run: (start: Int64, end: Int64?)
        let state: Entitlement.State
        var nextChange: Int64?
    }

    @Test(
        "The union of all grants decides, and the answer has the run around the instant",
        arguments: [
            Expected(
                label: "one that lasts", grants: [Given(1, nil)], at: 5, isActive: true,
                run: (1, nil), state: .active),
            Expected(
                label: "two that overlap", grants: [Given(1, 5), Given(3, 9)], at: 4,
                isActive: true, run: (1, 9), state: .active, nextChange: 5),
            Expected(
                label: "one within another", grants: [Given(1, 9), Given(3, 5)], at: 6,
                isActive: true, run: (1, 9), state: .active, nextChange: 9),
            Expected(
                label: "two that touch", grants: [Given(5, 9), Given(1, 5)], at: 5,
                isActive: true, run: (1, 9), state: .active, nextChange: 9),
            Expected(
                label: "in the gap, the run ahead", grants: [Given(1, 3), Given(5, 9)], at: 4,
                isActive: false, run: (5, 9), state: .upcoming, nextChange: 5),
            Expected(
                label: "at the end, the gap has begun", grants: [Given(1, 3), Given(5, nil)],
                at: 3, isActive: false, run: (5, nil), state: .upcoming, nextChange: 5),
            Expected(
                label: "behind the gap", grants: [Given(1, 3), Given(5, 9)], at: 5,
                isActive: true, run: (5, 9), state: .active, nextChange: 9),
            Expected(
                label: "after all, the last run", grants: [Given(1, 3), Given(5, 9)], at: 9,
                isActive: false, run: (5, 9), state: .expired),
            Expected(
                label: "before all", grants: [Given(5, 9)], at: 4, isActive: false, run: (5, 9),
                state: .upcoming, nextChange: 5),
            Expected(
                label: "revoked meanwhile", grants: [Given(1, 9, revoked: 4)], at: 4,
                isActive: false, run: (1, 4), state: .revoked),
            Expected(
                label: "held until it was revoked", grants: [Given(1, 9, revoked: 4)], at: 3,
                isActive: true, run: (1, 4), state: .active, nextChange: 4),
            Expected(
                label: "revoked before its start", grants: [Given(5, 9, revoked: 2)], at: 6,
                isActive: false, run: (5, 5), state: .revoked),
            Expected(
                label: "one of two revoked", grants: [Given(1, nil, revoked: 4), Given(2, 9)],
                at: 6, isActive: true, run: (1, 9), state: .active, nextChange: 9),
            Expected(
                label: "one of two revoked before its start",
                grants: [Given(1, 3), Given(5, 9, revoked: 2)], at: 6, isActive: false,
                run: (1, 3), state: .revoked),
            Expected(
                label: "for ever takes in all that follows", grants: [Given(1, nil), Given(5, 9)],
                at: 20, isActive: true, run: (1, nil), state: .active),
        ])
    func table(_ expected: Expected) throws {
        let entitlements = try state(of: expected.grants).entitlements(
            at: day(expected.at), catalog: Catalog())
        let entitlement = try #require(entitlements[try EntitlementID("pro")])
        #expect(entitlement.isActive == expected.isActive, "\(expected.label)")
        #expect(entitlement.run.start == day(expected.run.start), "\(expected.label)")
        #expect(entitlement.run.end == expected.run.end.map(day), "\(expected.label)")
        #expect(entitlement.state == expected.state, "\(expected.label)")
        #expect(entitlements.nextChange == expected.nextChange.map(day), "\(expected.label)")
    }

    @Test("Entitlements with different names are independent")
    func names() throws {
        var state = try state(of: [Given(1, 3)])
        state.apply(.grantGiven(try given("vip", Given(2, 9), id: "g_vip")))
        let entitlements = state.entitlements(at: day(4), catalog: Catalog())
        #expect(entitlements.all.map(\.id.text) == ["pro", "vip"])
        #expect(entitlements.all.map(\.isActive) == [false, true])
    }

    @Test(
        "Every entitlement is answered once, however many there are", arguments: [1, 7, 8, 9, 40])
    func many(count: Int) throws {
        var state = CustomerState()
        for (round, bounds) in [Given(1, 5), Given(5, 9)].enumerated() {
            for number in 0..<count {
                let name = "e\(10 + number)"
                state.apply(.grantGiven(try given(name, bounds, id: "g_\(name)_\(round)")))
            }
        }
        let entitlements = state.entitlements(at: day(3), catalog: Catalog())
        #expect(entitlements.all.map(\.id.text) == (0..<count).map { "e\(10 + $0)" })
        for entitlement in entitlements.all {
            #expect(entitlement.run == Interval(start: day(1), end: day(9)))
        }
    }

    @Test("A copy of a state keeps its value when the original changes")
    func copies() throws {
        let before = try state(of: [Given(1, 3)])
        var after = before
        after.apply(.grantGiven(try given("vip", Given(2, 9), id: "g_vip")))
        #expect(before.grants.count == 1)
        #expect(after.grants.count == 2)
        #expect(before != after)
        #expect(CustomerState() == CustomerState())
        #expect(CustomerState().version == 0)
    }

    private func day(_ number: Int64) -> Instant { Instant(milliseconds: number * 86_400_000) }

    private func given(_ entitlement: String, _ given: Given, id: String) throws -> GrantGiven {
        GrantGiven(
            grant: try GrantID(id), entitlement: try EntitlementID(entitlement),
            start: day(given.start), end: given.end.map(day), reason: try Reason("r"), ticket: nil)
    }

    private func state(of grants: [Given]) throws -> CustomerState {
        var state = CustomerState()
        for (index, grant) in grants.enumerated() {
            let event = try given("pro", grant, id: "g\(index)")
            state.apply(.grantGiven(event))
            guard let revoked = grant.revoked else { continue }
            state.apply(
                .grantRevoked(
                    GrantRevoked(
                        grant: event.grant, entitlement: event.entitlement, at: day(revoked),
                        reason: try Reason("r"), ticket: nil)))
        }
        return state
    }
}
