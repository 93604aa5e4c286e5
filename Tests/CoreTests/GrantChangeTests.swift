import Core
import Histories
import Testing

@Suite("Grants that are given and changed")
struct GrantChangeTests {
    private let now = at(10)

    @Test(
        "A grant gets another end, which lies ahead",
        arguments: [
            (GiveGrant.End.at(at(40)), at(40)), (.after(.days(60)), at(65)), (.never, nil),
        ] as [(GiveGrant.End, Instant?)])
    func changed(_ end: GiveGrant.End, _ expected: Instant?) throws {
        var state = given(from: 5, until: 20)
        let events = try change(&state, until: end)
        #expect(events.map(\.type) == [.grantChanged])
        #expect(state.grant(id("g"))?.end == expected)
        let run = try #require(state.entitlements(at: now, catalog: shop)[id("pro")]?.run)
        #expect(run == Interval(start: at(5), end: expected))
    }

    @Test("It may also end sooner")
    func shortened() throws {
        var state = given(from: 5, until: 20)
        _ = try change(&state, until: .at(at(11)))
        #expect(state.entitlements(at: at(11), catalog: shop)[id("pro")]?.isActive == false)
    }

    @Test("The end that it has already changes nothing, and no event says so")
    func same() throws {
        var state = given(from: 5, until: 20)
        #expect(try change(&state, until: .at(at(20))) == [])
        #expect(try change(&state, until: .after(.days(15))) == [])
    }

    @Test(
        "An end that is past, or before the start, or beyond all dates, is refused",
        arguments: [
            (5, GiveGrant.End.at(at(10)), "grant_ends_in_the_past"),
            (5, .after(.days(5)), "grant_ends_in_the_past"),
            (15, .at(at(15)), "grant_ends_before_it_starts"),
            (15, .at(at(12)), "grant_ends_before_it_starts"),
            (5, .after(duration("P9000Y")), "grant_ends_too_late"),
        ] as [(Int64, GiveGrant.End, String)])
    func refused(_ start: Int64, _ end: GiveGrant.End, _ code: String) {
        var state = given(from: start, until: 30)
        let refusal = #expect(throws: Refusal.self) { try change(&state, until: end) }
        #expect(refusal?.code == code)
    }

    @Test("A grant that is over, by its end or because it was revoked, gets no other end")
    func over() throws {
        var ended = given(from: 5, until: 10)
        var revoked = given(from: 5, until: 30)
        revoked.apply(
            .grantRevoked(
                GrantRevoked(
                    grant: id("g"), entitlement: id("pro"), at: at(9), reason: id("r"),
                    ticket: nil)))
        for refusal in [
            #expect(throws: Refusal.self) { try change(&ended, until: .never) },
            #expect(throws: Refusal.self) { try change(&revoked, until: .never) },
        ] {
            #expect(refusal?.code == "grant_ended")
        }
        var other = CustomerState()
        let unknown = #expect(throws: Refusal.self) { try change(&other, until: .never) }
        #expect(unknown?.code == "grant_unknown")
    }

    @Test("A grant that waits may get another length, or an end")
    func waiting() throws {
        var state = CustomerState()
        state.record(
            facts([transaction("m1", "pro", .autoRenewable, at(0), to: at(30))]))
        try give(&state, .afterCurrent(.days(5)))
        #expect(state.grantBounds(by: shop).first == GrantBounds(start: at(30), end: at(35)))
        _ = try change(&state, until: .after(.days(9)))
        #expect(state.grantBounds(by: shop).first == GrantBounds(start: at(30), end: at(39)))
        _ = try change(&state, until: .at(at(31)))
        #expect(state.grantBounds(by: shop).first == GrantBounds(start: at(30), end: at(31)))
        _ = try change(&state, until: .never)
        #expect(state.grantBounds(by: shop).first == GrantBounds(start: at(30), end: nil))
    }

    @Test("A grant to somebody who has it anyway says what gives it")
    func anyway() throws {
        var state = CustomerState()
        state.record(facts([transaction("1", "level2", .nonConsumable, at(3))]))
        let told = try give(&state, .from(nil, until: .after(.days(30))), of: "level2")
        #expect(told.givenAnyway == .purchase(purchaseID("1")))
        // A grant without an end lasts longer than a month's subscription, so the answer changes.
        state.record(facts([transaction("m1", "pro", .autoRenewable, at(0), to: at(30))]))
        #expect(try give(&state, .from(nil, until: .never), name: "g2").givenAnyway == nil)
        #expect(
            try give(&state, .from(nil, until: .after(.days(5))), name: "g3").givenAnyway
                == .grant(id("g2")))
        let waiting = try give(&state, .afterCurrent(.days(5)), name: "g4")
        #expect(waiting.begins == nil)
        #expect(waiting.givenAnyway == .grant(id("g2")))
    }

    @Test("A grant that adds a day, or a gap's day, changes answers")
    func changes() throws {
        var state = CustomerState()
        state.record(facts([transaction("m1", "pro", .autoRenewable, at(0), to: at(30))]))
        #expect(try give(&state, .from(nil, until: .at(at(31)))).givenAnyway == nil)
        #expect(try give(&state, .afterCurrent(.days(1)), name: "g2").givenAnyway == nil)
        #expect(try give(&state, .from(nil, until: .at(at(20))), name: "g3").givenAnyway != nil)
    }

    private func given(from start: Int64, until end: Int64) -> CustomerState {
        var state = CustomerState()
        state.apply(
            .grantGiven(
                GrantGiven(
                    grant: id("g"), entitlement: id("pro"), start: at(start), end: at(end),
                    reason: id("r"), ticket: nil)))
        return state
    }

    @discardableResult
    private func give(
        _ state: inout CustomerState, _ time: GiveGrant.Time, of entitlement: String = "pro",
        name: String = "g"
    ) throws -> GrantOutlook {
        let wish = GiveGrant(
            grant: id(name), entitlement: id(entitlement), time: time, reason: id("r"),
            ticket: nil)
        let events = try state.decide(wish, by: shop, now: now)
        for event in events { state.apply(event) }
        guard case .grantGiven(let given) = try #require(events.first) else {
            throw Refusal.grant(.unknown(id(name)))
        }
        return given.outlook
    }

    private func change(
        _ state: inout CustomerState, until end: GiveGrant.End
    ) throws -> [Event] {
        let wish = ChangeGrant(grant: id("g"), end: end, reason: id("r"), ticket: nil)
        let events = try state.decide(wish, by: shop, now: now)
        for event in events { state.apply(event) }
        return events
    }
}
