import Core
import Histories
import Testing

/// Tests what an undo leaves with the other customer, and other effects of a merge.
extension MergeTests {
    /// Which customers own the tokens of the first customer's purchase. The store reports the
    /// tokens while both customers are merged.
    struct TokenCase: Sendable, CustomTestStringConvertible {
        enum Owner: Sendable {
            case first, other, third, none
        }
        let words: String
        /// The owners of the tokens of its transactions, earliest first.
        var owners: [Owner]
        var rule = TransferPolicy.Rule.keep
        var isCredited = false
        var isOfAdmin = false
        let ends: Owner

        var testDescription: String { words }
    }

    private func whose(_ owner: TokenCase.Owner) -> CustomerID? {
        switch owner {
        case .first: anon
        case .other: ben
        case .third: cleo
        case .none: nil
        }
    }

    @Test(
        "After an undo a purchase is with the customer whom its tokens name, and the store's next news moves nothing",
        arguments: [
            TokenCase(words: "no token", owners: [], ends: .first),
            TokenCase(words: "the first customer's", owners: [.first], ends: .first),
            TokenCase(words: "the other one's", owners: [.other], ends: .other),
            TokenCase(words: "a third one's", owners: [.third], ends: .third),
            TokenCase(words: "no customer's", owners: [.none], ends: .first),
            TokenCase(
                words: "the first one's before the other one's", owners: [.first, .other],
                ends: .first),
            TokenCase(
                words: "the other one's before the first one's", owners: [.other, .first],
                ends: .other),
            TokenCase(
                words: "the latest token decides", owners: [.first, .other], rule: .transfer,
                ends: .other),
            TokenCase(
                words: "and it is the first one's", owners: [.other, .first], rule: .transfer,
                ends: .first),
            TokenCase(
                words: "an admin had moved it", owners: [.other], isOfAdmin: true, ends: .first),
            TokenCase(
                words: "its coins are the first one's", owners: [.other], isCredited: true,
                ends: .first),
        ])
    func named(row: TokenCase) throws {
        var world = World(settings: ProjectSettings(transfer: row.rule))
        for (number, owner) in [TokenCase.Owner.first, .other, .third].enumerated() {
            let customer = try #require(whose(owner))
            try world.register(token(UInt8(number)).text, for: customer)
        }
        func carried(_ place: Int) -> String? {
            switch row.owners[place] {
            case .first: token(0).text
            case .other: token(1).text
            case .third: token(2).text
            case .none: token(9).text
            }
        }
        func fact(_ place: Int, on day: Int64, telling: Bool) -> TransactionFact {
            let (product, kind): (String, ProductKind) =
                row.isCredited ? ("coins", .consumable) : ("pro", .autoRenewable)
            return transaction(
                "x\(place)", of: "x0", product, kind, at(Int64(place) * 30),
                to: row.isCredited ? nil : at(Int64(place) * 30 + 30), signed: at(day)
            ) { if telling { $0.accountToken = carried(place) } }
        }
        let count = max(1, row.owners.count)
        let before = (0..<count).map { facts([fact($0, on: 80, telling: false)]) }
        try world.submit(before, by: .customer(row.isOfAdmin ? cleo : anon))
        if row.isOfAdmin { try world.move(purchaseID("x0"), to: anon) }
        try world.merge(anon, into: ben)
        func news(on day: Int64) throws {
            for place in row.owners.indices {
                try world.submit([facts([fact(place, on: day, telling: true)])], by: .store)
            }
        }
        try news(on: 81)
        try world.undoMerge(of: anon)
        let right = try #require(whose(row.ends))
        #expect(world.holders[purchaseID("x0")] == right)
        let balance = world.customer(anon).balance("coins")
        #expect(balance == (row.isCredited ? 100 : 0) && world.customer(ben).balance("coins") == 0)
        let count2 = world.events.count
        try news(on: 82)
        #expect(world.holders[purchaseID("x0")] == right)
        #expect(!world.events[count2...].contains { $0.event.type == .purchaseAttached })
    }

    @Test("What stayed with the other customer never counts again as what came with a third one")
    func forgets() throws {
        var world = World()
        try world.submit([facts([pro])], by: .customer(cleo))
        try world.merge(cleo, into: anon)
        try world.register(token(1).text, for: ben)
        try world.merge(anon, into: ben)
        let told = transaction("p1", "pro", .autoRenewable, at(0), to: at(30), signed: at(2)) {
            $0.accountToken = token(1).text
        }
        try world.submit([facts([told])], by: .store)
        try world.undoMerge(of: anon)
        #expect(world.holders[purchaseID("p1")] == ben)
        try world.move(purchaseID("p1"), to: anon)
        try world.undoMerge(of: cleo)
        #expect(world.holders[purchaseID("p1")] == anon)
    }

    @Test(
        "A consent that was withdrawn meanwhile goes back with the account, and stays where the account does"
    )
    func consents() throws {
        var fact = installation("2.0", on: at(0))
        fact.appTransaction = id("account1")
        func merged(
            _ others: [CustomerID], into whole: CustomerID, isShared: Bool = false
        ) throws -> World {
            var world = World()
            try world.submit([facts(apps: [fact])], by: .customer(anon))
            if isShared { try world.submit([facts(apps: [fact])], by: .customer(whole)) }
            var last = anon
            for other in others + [whole] {
                try world.merge(last, into: other)
                last = other
            }
            var news = Facts()
            news.consents = [rescission("n1", signed: at(9))]
            #expect(world.customer(whole).appTransactions == [id("account1")])
            try world.submit(
                Submission(
                    [Submission.Item(index: 0, facts: news)], by: .store, concerned: [whole]))
            return world
        }
        func has(_ world: World, _ customer: CustomerID) -> Bool {
            world.customer(customer).consents.map(\.id) == [id("n1")]
        }
        var world = try merged([], into: ben)
        #expect(has(world, ben) && !has(world, anon))
        try world.undoMerge(of: anon)
        #expect(has(world, anon) && !has(world, ben))
        // Repeated news changes nothing.
        let count = world.events.count
        var news = Facts()
        news.consents = [rescission("n1", signed: at(9))]
        try world.submit(
            Submission([Submission.Item(index: 0, facts: news)], by: .store, concerned: [anon]))
        #expect(world.events.count == count)
        try world.merge(anon, into: ben)
        #expect(has(world, ben))
        // Both customers use the account, so both lose the consent.
        var shared = try merged([], into: ben, isShared: true)
        try shared.undoMerge(of: anon)
        #expect(has(shared, anon) && has(shared, ben))
        // Merges three customers in a chain.
        var chain = try merged([cleo], into: ben)
        try chain.undoMerge(of: cleo)
        #expect(has(chain, cleo) && !has(chain, ben))
        try chain.undoMerge(of: anon)
        #expect(has(chain, anon) && !has(chain, cleo))
    }

    @Test("The undoing of a transfer reaches the customer of whom the former holder became a part")
    func transfersUndone() throws {
        var world = World()
        world.give("g_1", "pro", to: anon, days: 1)
        try world.submit([facts([pro])], by: .customer(anon))
        try world.move(purchaseID("p1"), to: ben)
        try world.merge(anon, into: cleo)
        var intoHolder = world
        try world.moveBack(purchaseID("p1"))
        #expect(world.holders[purchaseID("p1")] == cleo)
        // Each undo moves the purchase to the other of these two customers.
        try world.moveBack(purchaseID("p1"))
        #expect(world.holders[purchaseID("p1")] == ben)
        try intoHolder.merge(cleo, into: ben)
        let refusal = Refusal.move(.cameFromPart(purchaseID("p1"), anon))
        #expect(throws: refusal) { try intoHolder.moveBack(purchaseID("p1")) }
        #expect(refusal.code == "already_held")
        try intoHolder.undoMerge(of: cleo)
        try intoHolder.undoMerge(of: anon)
        try intoHolder.moveBack(purchaseID("p1"))
        #expect(intoHolder.holders[purchaseID("p1")] == anon)
    }

    @Test("What back ends added on a day counts once, however often the two are merged")
    func earnings() throws {
        let coins: CurrencyID = id("coins")
        let limits = [coins: CreditLimit(perCall: 100, perDay: 100)]
        var world = World()
        func earn(_ amount: Int64, _ customer: CustomerID) throws {
            let wish = AdjustBalance(
                currency: coins, amount: amount, reason: id("a quest"), ticket: nil)
            world.apply(
                try world.customer(customer).decide(earning: wish, within: limits, now: world.now),
                to: customer)
        }
        try earn(60, anon)
        try world.merge(anon, into: ben)
        try world.undoMerge(of: anon)
        try world.merge(anon, into: ben)
        #expect(throws: Refusal.balance(.creditLimitReached(coins, limits[coins]!, left: 40))) {
            try earn(41, ben)
        }
        try earn(40, ben)
        #expect(world.customer(ben).balance("coins") == 100)
    }
}
