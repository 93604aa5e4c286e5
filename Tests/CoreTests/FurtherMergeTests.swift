import Core
import Histories
import Testing

extension MergeTests {
    @Test("Each wish that cannot be granted has a refusal of its own")
    func refusals() throws {
        var world = try bought()
        func refuses(_ from: CustomerID, _ into: CustomerID, _ refusal: Refusal) {
            var copy = world
            #expect(throws: refusal) { try copy.merge(from, into: into) }
        }
        refuses(anon, anon, .merge(.intoItself(anon)))
        refuses(cleo, anon, .customerUnknown(cleo))
        #expect(throws: Refusal.merge(.notMerged(anon))) {
            var copy = world
            try copy.undoMerge(of: anon)
        }
        try world.merge(anon, into: ben)
        refuses(anon, ben, .customerMerged(anon, into: ben))
        refuses(anon, cleo, .customerMerged(anon, into: ben))
        refuses(ben, anon, .merge(.circle(ben, anon)))
        world.give("g_c", "pro", to: cleo, days: 1)
        refuses(cleo, anon, .merge(.intoMerged(anon, partOf: ben)))
        world.apply([.customerErased(CustomerErased(reason: id("asked"), ticket: nil))], to: cleo)
        refuses(cleo, ben, .merge(.ofErased(cleo)))
        refuses(ben, cleo, .merge(.intoErased(cleo)))
    }

    @Test("The limits of one customer hold for both together")
    func limits() throws {
        let many: [(MergeRefusal.Limit, Int, (inout World, CustomerID, Int) -> Void)] = [
            (
                .grants, CustomerState.grantLimit,
                { world, customer, number in
                    world.give("g_\(customer)_\(number)", "pro", to: customer, days: 1)
                }
            ),
            (
                .tokens, CustomerState.tokenLimit,
                { world, customer, number in
                    let first: UInt8 = customer == anon ? 1 : 2
                    let token = AccountToken(
                        random: [first, UInt8(number)] + [UInt8](repeating: 0, count: 14))
                    world.apply(
                        [.tokenRegistered(TokenRegistered(token: token))], to: customer)
                }
            ),
            (
                .openOrders, CustomerState.openOrderLimit,
                { world, customer, number in
                    let first: UInt8 = customer == anon ? 1 : 2
                    world.open(
                        "\(customer)-\(number)",
                        AccountToken(
                            random: [first, UInt8(number)] + [UInt8](repeating: 1, count: 14)),
                        for: customer)
                }
            ),
        ]
        for (what, limit, add) in many {
            var world = World()
            // Stays below the number of entries that one event can hold.
            let own = min(limit / 2, 500)
            for number in 0..<own { add(&world, anon, number) }
            for number in 0..<limit - own { add(&world, ben, number) }
            var fitting = world
            try fitting.merge(anon, into: ben)
            add(&world, ben, limit - own)
            #expect(throws: Refusal.merge(.beyondLimit(what, limit))) {
                try world.merge(anon, into: ben)
            }
        }
        var rich = World()
        try rich.adjust(Balances.limit, of: anon)
        try rich.adjust(1, of: ben)
        #expect(throws: Refusal.merge(.balanceBeyondLimit(id("coins"), Balances.limit))) {
            try rich.merge(anon, into: ben)
        }
        var many2 = World()
        for number in 0...MergeRefusal.customerLimit {
            many2.give("g\(number)", "pro", to: id("one-\(number)"), days: 1)
        }
        for number in 0..<MergeRefusal.customerLimit {
            try many2.merge(id("one-\(number)"), into: ben)
        }
        #expect(throws: Refusal.merge(.beyondLimit(.merged, MergeRefusal.customerLimit))) {
            try many2.merge(id("one-\(MergeRefusal.customerLimit)"), into: ben)
        }
    }

    @Test("Who has more than one event carries is not merged, and nothing is half done")
    func tooMuch() throws {
        var world = World()
        for number in 0...1000 { world.give("g_\(number)", "pro", to: anon, days: 1) }
        #expect(throws: Refusal.merge(.tooMuch)) { try world.merge(anon, into: ben) }
        // The merge also works in the other direction.
        world.give("g_b", "pro", to: ben, days: 1)
        try world.merge(ben, into: anon)
        #expect(world.customer(anon).grants.count == 1002)
    }

    @Test("A purchase whose product the catalog has learned since is credited by the merge, once")
    func learned() throws {
        var world = World(catalog: Catalog())
        try world.submit([facts([coins])], by: .customer(anon))
        #expect(world.customer(anon).balance("coins") == 0)
        world.learn(shop)
        try world.merge(anon, into: ben)
        #expect(world.customer(ben).balance("coins") == 100)
        try world.submit([facts([coins])], by: .customer(ben))
        #expect(world.customer(ben).balance("coins") == 100)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 100)
        #expect(world.customer(ben).balance("coins") == 0)
    }

    @Test("Of two who were merged, both cannot get back what was spent of the coins of either")
    func spentOnce() throws {
        var world = World()
        try world.adjust(50, of: anon)
        try world.adjust(50, of: cleo)
        try world.merge(anon, into: ben)
        try world.merge(cleo, into: ben)
        try world.spend(50, of: ben)
        try world.undoMerge(of: anon)
        #expect(world.customer(anon).balance("coins") == 50)
        let loss = MergeRefusal.Loss(currency: id("coins"), has: 0, needs: 50, missing: 50)
        #expect(throws: Refusal.merge(.spent([loss]))) {
            try world.undoMerge(of: cleo)
        }
        #expect(world.customer(ben).balance("coins") == 0)
    }

    @Test(
        "A back end merges where the project allows it, and nothing that another account may have")
    func backEnds() throws {
        var world = try bought()
        #expect(throws: Refusal.merge(.notAllowed)) {
            try world.merge(anon, into: ben, byBackEnd: true)
        }
        func open() throws -> World {
            var world = World(settings: ProjectSettings(merge: .backend))
            try world.submit([facts([pro])], by: .customer(anon))
            return world
        }
        world = try open()
        try world.merge(anon, into: ben, byBackEnd: true)
        #expect(world.holders[purchaseID("p1")] == ben)
        let refusal = Refusal.merge(.purchaseOfAnother(purchaseID("p1")))
        world = World(settings: ProjectSettings(merge: .backend))
        try world.submit([facts([pro])], by: .customer(cleo))
        try world.move(purchaseID("p1"), to: anon)
        #expect(throws: refusal) { try world.merge(anon, into: ben, byBackEnd: true) }
        try world.merge(anon, into: ben)
        // The purchase was credited before a customer had the token, so the token does not move it.
        world = World(settings: ProjectSettings(merge: .backend))
        var named = coins
        named.accountToken = token(7).text
        try world.submit([facts([named])], by: .customer(anon))
        try world.register(token(7).text, for: cleo)
        #expect(throws: Refusal.merge(.purchaseOfAnother(purchaseID("c1")))) {
            try world.merge(anon, into: ben, byBackEnd: true)
        }
        // Neither customer's token may belong to another account.
        world = try open()
        try world.register(token(7).text, for: ben)
        try world.submit([facts([named])], by: .customer(ben))
        try world.merge(ben, into: anon, byBackEnd: true)
        #expect(world.holders[purchaseID("c1")] == anon)
    }

    @Test("Both environments go along in one decision, and each has its own balances")
    func environments() throws {
        let here = try bought()
        var sandbox = World()
        try sandbox.submit([facts([coins])], by: .customer(anon))
        let wish = MergeCustomer(anon, into: ben, reason: id("one"), ticket: nil)
        let decision = try wish.decide(here.wholeSituation(elsewhere: sandbox))
        #expect(decision.parts.map(\.isElsewhere) == [false, false, true, true])
        var joined = CustomerState()
        for part in decision.parts where part.isElsewhere && part.customer == ben {
            for event in part.events { joined.apply(event) }
        }
        #expect(joined.balance("coins") == 100 && joined.purchases.count == 1)
        // A customer without events in the sandbox is also merged there.
        let alone = try wish.decide(here.wholeSituation(elsewhere: World()))
        #expect(alone.parts.filter(\.isElsewhere).map(\.events.count) == [1, 1])
    }

    @Test("What was installed counts for the other customer, and for the first one after an undo")
    func apps() throws {
        var world = World()
        var fact = installation("1.0", on: at(0))
        fact.appTransaction = id("account1")
        try world.submit([facts(apps: [fact])], by: .customer(anon))
        try world.submit([facts(apps: [installation("3.0", on: at(1))])], by: .customer(ben))
        func legacy(_ customer: CustomerID) -> Bool {
            world.customer(customer).entitlements(at: at(5), catalog: shop)[id("legacy")]?.isActive
                ?? false
        }
        #expect(legacy(anon) && !legacy(ben))
        try world.merge(anon, into: ben)
        #expect(!legacy(anon) && legacy(ben))
        #expect(world.customer(ben).appTransactions == [id("account1")])
        #expect(world.customer(anon).appTransactions.isEmpty)
        try world.undoMerge(of: anon)
        #expect(legacy(anon) && !legacy(ben))
    }

    @Test("Writes about a customer who is a part of another one name that one")
    func writes() throws {
        var world = try bought()
        try world.merge(anon, into: ben)
        let stream = Stream(project: id("default"), environment: .production, customer: anon)
        let command = Command.customer(
            stream, actor: id("test"), cause: Cause(text: "test", digest: [])
        ) { _, _, _ in [.tokenRegistered(TokenRegistered(token: token(9)))] }
        #expect(throws: Refusal.customerMerged(anon, into: ben)) {
            _ = try command.decide(world.wholeSituation())
        }
        // This also applies to commands about other customers that write to this stream.
        let other = Stream(project: id("default"), environment: .production, customer: cleo)
        let moving = Command(stream: other, actor: id("test"), cause: Cause(text: "t", digest: []))
        {
            _ in
            Decision(
                [.tokenRegistered(TokenRegistered(token: token(9)))], for: anon)
        }
        #expect(throws: Refusal.customerMerged(anon, into: ben)) {
            _ = try moving.decide(world.wholeSituation())
        }
    }
}
