import Core
import Histories
import Testing

private let anna: CustomerID = id("anna")
private let ben: CustomerID = id("ben")
private let carl: CustomerID = id("carl")

/// A token for each person.
private let tokens: [CustomerID: String] = [
    anna: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11",
    ben: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12",
    carl: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a13",
]
private let nobodys = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a99"

/// A step in the life of one subscription with a period for each month.
private enum Step: Sendable {
    /// The transaction of a month, with a person's token if one is given.
    case month(Int, token: CustomerID? = nil, by: CustomerID? = nil)
    /// The transaction of a month, with a token that no customer has.
    case strange(Int, by: CustomerID?)
    /// The person registers the token.
    case registered(CustomerID)
    case moved(to: CustomerID)
}

private struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// The final holder under each of the rules `keep`, `transfer_if_inactive` and `transfer`.
    let holders: [CustomerID]
    /// The people who register their tokens before the first step.
    let known: [CustomerID]

    init(
        _ name: String, _ steps: [Step], keep: CustomerID, ifInactive: CustomerID,
        transfer: CustomerID, known: [CustomerID] = [anna, ben, carl]
    ) {
        testDescription = name
        self.steps = steps
        holders = [keep, ifInactive, transfer]
        self.known = known
    }

    init(
        _ name: String, _ steps: [Step], all holder: CustomerID,
        known: [CustomerID] = [anna, ben, carl]
    ) {
        self.init(name, steps, keep: holder, ifInactive: holder, transfer: holder, known: known)
    }
}

@Suite("The owner of a purchase by its tokens")
struct NamedHolderTests {
    private static let rules: [TransferPolicy.Rule] = [.keep, .transferIfInactive, .transfer]

    /// Examples and the resulting holders. Months have thirty days from 1 January. The clock is at
    /// day 40, in the second month.
    private static let table = [
        Row(
            "A stranger who brings evidence without a token does not get what a token named",
            [.month(0, token: anna, by: anna), .month(0, by: ben), .month(1, by: ben)], all: anna),
        Row(
            "A stranger who came first loses it to the one whom a token names",
            [.month(0, by: ben), .month(0, token: anna, by: anna)], all: anna),
        Row(
            "The stranger's own submission of the token's evidence brings it home, too",
            [.month(0, by: ben), .month(1, token: anna, by: ben)], all: anna),
        Row(
            "The store's news brings it home",
            [.month(0, by: ben), .month(1, token: anna)], all: anna),
        Row(
            "A lapsed purchase that somebody took goes to the one whom the renewal names",
            [.month(0, by: anna), .month(0, by: ben), .month(1, token: anna)], all: anna),
        Row(
            "It has no holder while no customer is known, and comes to the one whom a later token names",
            [.month(0), .month(1, token: anna)], all: anna),
        Row(
            "Of two customers the first transaction's decides where purchases are kept, else the last's",
            [.month(0, token: anna, by: anna), .month(1, token: ben, by: ben)], keep: anna,
            ifInactive: ben, transfer: ben),
        Row(
            "The same when the last transaction comes first",
            [.month(1, token: ben, by: ben), .month(0, token: anna, by: anna)], keep: anna,
            ifInactive: ben, transfer: ben),
        Row(
            "The same when the store tells all of it",
            [.month(1, token: ben), .month(0, token: anna)], keep: anna, ifInactive: ben,
            transfer: ben),
        Row(
            "Of three customers neither the middle one gets it, nor who brings everything",
            [
                .month(1, token: carl, by: carl), .month(2, token: ben, by: carl),
                .month(0, token: anna, by: carl), .month(1, by: carl),
            ], keep: anna, ifInactive: ben, transfer: ben),
        Row(
            "A token of no customer names no holder",
            [.month(0, token: anna, by: anna), .strange(1, by: ben)], all: anna),
        Row(
            "A purchase with only an unknown token follows the project's rule",
            [.strange(0, by: anna), .month(0, by: ben)], keep: anna, ifInactive: ben,
            transfer: ben),
        Row(
            "Without any token it goes as the project's rule says",
            [.month(0, by: anna), .month(0, by: ben)], keep: anna, ifInactive: ben,
            transfer: ben),
        Row(
            "Without any token what gives access stays unless everything moves",
            [.month(1, by: anna), .month(1, by: ben)], keep: anna, ifInactive: anna,
            transfer: ben),
        Row(
            "A token that becomes known later brings the purchase from who took it",
            [.month(0, token: anna, by: ben), .registered(anna)], all: anna, known: [ben]),
        Row(
            "A later token that becomes known later decides only where the last one does",
            [
                .month(0, token: anna, by: anna), .month(1, token: ben, by: anna), .registered(ben),
            ], keep: anna, ifInactive: ben, transfer: ben, known: [anna]),
        Row(
            "An earlier token that becomes known later decides only where the first one does",
            [
                .month(0, token: anna, by: ben), .month(1, token: ben, by: ben), .registered(anna),
            ], keep: anna, ifInactive: ben, transfer: ben, known: [ben]),
        Row(
            "What an admin moved stays, whatever evidence comes",
            [
                .month(0, token: anna, by: anna), .moved(to: ben), .month(1, token: anna, by: anna),
                .month(1, by: carl),
            ], all: ben),
        Row(
            "What an admin moved stays, also when the token becomes known later",
            [.month(0, token: anna, by: ben), .moved(to: carl), .registered(anna)], all: carl,
            known: []),
    ]

    @Test("The table of rules", arguments: table)
    fileprivate func rules(row: Row) throws {
        for (rule, holder) in zip(Self.rules, row.holders) {
            var world = World(settings: ProjectSettings(transfer: rule))
            world.now = at(40)
            for person in row.known { world.tokens[tokens[person] ?? ""] = person }
            for step in row.steps { try take(step, in: &world) }
            #expect(world.holders[purchaseID("0")] == holder, "\(rule)")
            let others = [anna, ben, carl].filter { $0 != holder }
            for other in others {
                #expect(world.customer(other).purchases.isEmpty, "\(rule): \(other)")
            }
        }
    }

    private func take(_ step: Step, in world: inout World) throws {
        switch step {
        case .month(let number, let person, let sender):
            try submit(number, person.flatMap { tokens[$0] }, sender, to: &world)
        case .strange(let number, let sender): try submit(number, nobodys, sender, to: &world)
        case .registered(let person): try world.register(tokens[person] ?? "", for: person)
        case .moved(let person): try world.move(purchaseID("0"), to: person)
        }
    }

    private func submit(
        _ month: Int, _ token: String?, _ sender: CustomerID?, to world: inout World
    ) throws {
        let start = Int64(month) * 30
        let fact = transaction(
            "\(month)", of: "0", "pro", .autoRenewable, at(start), to: at(start + 30)
        ) { $0.accountToken = token }
        try world.submit([facts([fact])], by: sender.map { .customer($0) } ?? .store)
    }

    @Test("The customer whom a token names gets it at once, even right after a move")
    func noCoolDown() throws {
        var world = World(settings: ProjectSettings(transfer: .transfer))
        world.tokens[tokens[anna] ?? ""] = anna
        try submit(0, nil, carl, to: &world)
        try submit(0, nil, ben, to: &world)
        #expect(world.holders[purchaseID("0")] == ben)
        let token = try #require(AccountToken(tokens[anna] ?? ""))
        try submit(0, token.text, anna, to: &world)
        #expect(world.customer(anna).purchase(purchaseID("0"))?.arrival?.cause == .named(token))
        #expect(world.customer(ben).departures.last?.cause == .named(token))
    }

    @Test("Credited coins stay; without a credit, they go to the customer whom the token names")
    func coins() throws {
        for (product, holder) in [("coins", ben), ("gold", anna)] {
            var world = World()
            world.tokens[tokens[anna] ?? ""] = anna
            let bare = transaction("0", product, .consumable, at(0))
            let named = transaction("0", product, .consumable, at(0), signed: at(1)) {
                $0.accountToken = tokens[anna]
            }
            try world.submit([facts([bare])], by: .customer(ben))
            let items = try world.submit([facts([named])], by: .customer(anna))
            #expect(world.holders[purchaseID("0")] == holder)
            #expect(
                items.map(\.result) == [
                    holder == anna ? .recorded : .refused(.move(.heldByAnother))
                ])
        }
    }

    @Test("A token counts even if a newer statement about the transaction outweighs it")
    func outweighed() throws {
        let early = transaction("0", "pro", .autoRenewable, at(0), to: at(30)) {
            $0.accountToken = tokens[anna]
        }
        let late = transaction("0", "pro", .autoRenewable, at(0), to: at(30), signed: at(5))
        for order in [[early, late], [late, early]] {
            var world = World()
            try world.submit([facts([order[0]])], by: .customer(ben))
            try world.submit([facts([order[1]])], by: .customer(ben))
            // The result is the same if the purchase was moved meanwhile, and the decisive facts no
            // longer have a token.
            try world.move(purchaseID("0"), to: .unclaimed(purchaseID("0")))
            try world.submit([facts([late])], by: .customer(carl))
            #expect(world.holders[purchaseID("0")] == carl)
            try world.register(tokens[anna] ?? "", for: anna)
            #expect(world.holders[purchaseID("0")] == anna)
        }
    }

    @Test("If one transaction has two tokens, the one that the store stated last decides")
    func restated() throws {
        let first = transaction("0", "pro", .autoRenewable, at(0), to: at(30)) {
            $0.accountToken = tokens[ben]
        }
        let last = transaction("0", "pro", .autoRenewable, at(0), to: at(30), signed: at(5)) {
            $0.accountToken = tokens[anna]
        }
        for order in [[first, last], [last, first]] {
            for rule in TransferPolicy.Rule.allCases {
                var world = World(settings: ProjectSettings(transfer: rule))
                for (person, token) in tokens { world.tokens[token] = person }
                for fact in order { try world.submit([facts([fact])], by: .customer(carl)) }
                #expect(world.holders[purchaseID("0")] == anna)
            }
        }
    }

    @Test("News about the renewal names a customer if no transaction does")
    func renewals() throws {
        var news = Facts()
        news.renewals = [renewal(of: "0", signed: at(1)) { $0.accountToken = tokens[ben] }]
        var world = World()
        for (person, token) in tokens { world.tokens[token] = person }
        try submit(0, nil, carl, to: &world)
        try world.submit([news], by: .store)
        #expect(world.holders[purchaseID("0")] == ben)
        try submit(0, tokens[anna], carl, to: &world)
        #expect(world.holders[purchaseID("0")] == anna)
    }
}
