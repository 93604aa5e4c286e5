import Core
import Histories
import Testing

@Suite("Orders")
struct OrderTests {
    private let token: AccountToken

    init() throws {
        token = try #require(AccountToken("6F0A4F0E-8A0E-4B43-9F5D-0D1B6C0F8A11"))
    }

    private func open(
        _ name: String, in state: inout CustomerState, lifetime: String? = "P1D",
        settings: ProjectSettings = ProjectSettings(), now: Instant = at(0)
    ) throws {
        let wish = OpenOrder(
            order: id(name), token: token, product: id("coins"),
            lifetime: try lifetime.map { try #require(CalendarDuration($0)) })
        for event in try state.decide(wish, settings: settings, now: now) { state.apply(event) }
    }

    private func opened() throws -> CustomerState {
        var state = CustomerState()
        try open("o1", in: &state)
        return state
    }

    private func paid(_ name: String = "1") -> TransactionFact {
        transaction(name, "coins", .consumable, at(0)) { $0.accountToken = token.text.uppercased() }
    }

    private func close(
        _ state: inout CustomerState, _ cause: OrderClosed.Cause
    ) throws -> [String] {
        let events = try state.decide(CloseOrder(order: id("o1"), cause: cause), now: at(2))
        for event in events { state.apply(event) }
        return events.map(\.type.name)
    }

    @Test("The first transaction that carries the token fulfils the order")
    func fulfilled() throws {
        var state = try opened()
        #expect(
            state.record(paid()) == ["purchase.made", "order.fulfilled", "balance.credited"])
        #expect(state.record(paid()).isEmpty)
        #expect(state.record(paid("2")) == ["purchase.made", "balance.credited"])
        #expect(state.order(id("o1"))?.fulfilled?.transaction == id("1"))
        #expect(throws: Refusal.order(.fulfilled(id("o1")))) {
            try close(&state, .cancelled(id("r"), ticket: nil))
        }
    }

    @Test("A stale order closes at its end, and its purchase still counts")
    func stale() throws {
        var state = try opened()
        #expect(state.closingStaleOrders(now: at(1, -1)).isEmpty)
        #expect(state.closingStaleOrders(now: at(1)).map(\.type.name) == ["order.closed"])
        #expect(try close(&state, .stale) == ["order.closed"])
        #expect(try close(&state, .stale).isEmpty)
        _ = state.record(paid())
        #expect(state.balance("coins") == 100)
        #expect(state.settledOrder(of: id("1"), purchaseID("1")) == nil)
    }

    @Test("A purchase that support settled by hand is not credited when its evidence comes")
    func settled() throws {
        var state = try opened()
        #expect(try close(&state, .stale) == ["order.closed"])
        #expect(try close(&state, .settled(id("gave coins"), ticket: nil)) == ["order.closed"])
        #expect(try close(&state, .settled(id("again"), ticket: nil)).isEmpty)
        #expect(state.record(paid()) == ["purchase.made", "order.fulfilled"])
        #expect(state.settledOrder(of: id("1"), purchaseID("1"))?.id == id("o1"))
        #expect(state.record(paid()).isEmpty)
        #expect(state.balance("coins") == 0)
        #expect(state.record(paid("2")) == ["purchase.made", "balance.credited"])
    }

    @Test("An order expires at its end, and a fulfilled or settled one stays so")
    func states() throws {
        var state = try opened()
        #expect(state.order(id("o1"))?.state(at: at(1, -1)) == .open)
        #expect(state.order(id("o1"))?.state(at: at(1)) == .stale)
        #expect(try close(&state, .cancelled(id("r"), ticket: nil)) == ["order.closed"])
        #expect(state.order(id("o1"))?.state(at: at(0)) == .cancelled)
        var settled = state
        #expect(try close(&settled, .settled(id("r"), ticket: nil)) == ["order.closed"])
        for event in [paid()] {
            _ = state.record(event)
            _ = settled.record(event)
        }
        #expect(state.order(id("o1"))?.state(at: at(9)) == .fulfilled)
        #expect(settled.order(id("o1"))?.state(at: at(9)) == .settled)
    }

    @Test("An order waits as long as it says, or else as its project says")
    func lifetimes() throws {
        var state = CustomerState()
        let settings = ProjectSettings(orderLifetime: .days(3))
        try open("own", in: &state, lifetime: "PT1H", settings: settings)
        try open("theirs", in: &state, lifetime: nil, settings: settings)
        #expect(state.order(id("own"))?.opened.expires == at(0, 3_600_000))
        #expect(state.order(id("theirs"))?.opened.expires == at(3))
        #expect(throws: Refusal.waitTooLong(days: 366)) {
            try open("long", in: &state, lifetime: "P367D")
        }
        try open("longest", in: &state, lifetime: "P366D")
    }

    @Test("Orders have names and limits")
    func limits() throws {
        var state = try opened()
        #expect(throws: Refusal.order(.exists)) { try open("o1", in: &state) }
        #expect(throws: Refusal.order(.unknown(id("o2")))) {
            try state.decide(
                CloseOrder(order: id("o2"), cause: .cancelled(id("r"), ticket: nil)), now: at(0))
        }
        for number in 1..<CustomerState.openOrderLimit {
            try open("n\(number)", in: &state)
        }
        #expect(throws: Refusal.order(.tooMany(limit: CustomerState.openOrderLimit))) {
            try open("last", in: &state, now: at(1, -1))
        }
        try open("after the first ones are stale", in: &state, now: at(1))
    }
}

@Suite("Account tokens")
struct TokenTests {
    private let text = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"

    @Test("A token is a UUID; its case does not matter")
    func uuid() throws {
        #expect(AccountToken(text.uppercased()) == AccountToken(text))
        #expect(AccountToken(text.uppercased())?.text == text)
        for bad in [
            "", "t", String(text.dropLast()), text + "0", text.replacing("-", with: "0"),
            "6f0a4f0e8-a0e-4b43-9f5d-0d1b6c0f8a11", "gf0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11",
            "{" + text.dropFirst(2) + "}",
        ] {
            #expect(AccountToken(bad) == nil, "\(bad)")
        }
    }

    @Test("A random token has the right version, and keeps every other bit")
    func random() {
        #expect(
            AccountToken(random: [UInt8](repeating: 0xFF, count: 16)).text
                == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(
            AccountToken(random: [UInt8](0..<16)).text == "00010203-0405-4607-8809-0a0b0c0d0e0f")
    }

    @Test("A token is registered once, even if it is an order's, and there is a limit")
    func register() throws {
        let token = try #require(AccountToken(text))
        var state = CustomerState()
        for event in try state.decide(RegisterToken(token: token)) { state.apply(event) }
        #expect(state.tokens == [token])
        #expect(try state.decide(RegisterToken(token: token)).isEmpty)
        var ordering = CustomerState()
        let order = OpenOrder(order: id("o1"), token: token, product: nil, lifetime: nil)
        for event in try ordering.decide(order, settings: ProjectSettings(), now: at(0)) {
            ordering.apply(event)
        }
        #expect(try ordering.decide(RegisterToken(token: token)).isEmpty)
        for number in 1..<CustomerState.tokenLimit {
            let more = AccountToken(random: [UInt8](repeating: UInt8(number), count: 16))
            for event in try state.decide(RegisterToken(token: more)) { state.apply(event) }
        }
        #expect(throws: Refusal.token(.tooMany(limit: CustomerState.tokenLimit))) {
            try state.decide(
                RegisterToken(token: AccountToken(random: [UInt8](repeating: 0, count: 16))))
        }
        #expect(try state.decide(RegisterToken(token: token)).isEmpty)
    }
}
