package import Core

/// An event in the life of a few people's purchases and account tokens.
package enum TokenAct: Sendable, CustomStringConvertible {
    case evidence(TransactionFact, Submission.Bearer)
    /// The store's news about a renewal.
    case news(RenewalFact)
    /// The person registers the token.
    case registered(AccountToken, CustomerID)
    /// An admin moves the purchase to a person.
    case moved(PurchaseID, to: CustomerID)
    /// An admin undoes the last move.
    case movedBack(PurchaseID)
    /// The first person is merged into the other.
    case merged(CustomerID, into: CustomerID)
    case parted(CustomerID)
    case waits(hours: Int64)

    package var description: String {
        switch self {
        case .evidence(let fact, let bearer):
            "\(fact.original)/\(fact.transaction) \(fact.accountToken?.suffix(2) ?? "-") by \(bearer)"
        case .news(let fact): "renewal of \(fact.original) \(fact.accountToken?.suffix(2) ?? "-")"
        case .registered(let token, let person): "token \(token.text.suffix(2)) of \(person)"
        case .moved(let purchase, let person): "\(purchase) to \(person)"
        case .movedBack(let purchase): "\(purchase) back"
        case .merged(let person, let other): "\(person) merged into \(other)"
        case .parted(let person): "\(person) parted"
        case .waits(let hours): "\(hours) hours"
        }
    }
}

/// Four people who each buy one product of each kind. Also the ids of those purchases.
package struct TokenHistory: Sendable {
    /// A prefix that distinguishes these ids from other histories'.
    private let name: String
    private let subscription: String
    private let coins: String
    /// When the first purchases were made.
    private let start: Instant
    package let people: [CustomerID]
    /// One token for each person, and one token that no person registers.
    private let tokens: [AccountToken]

    package init(
        _ name: String, number: UInt8 = 0, subscription: String = "pro", coins: String = "coins",
        from start: Instant
    ) {
        self.name = name
        self.subscription = subscription
        self.coins = coins
        self.start = start
        people = (0..<4).map { id("\(name)-person-\($0)") }
        tokens = (0..<5).map {
            AccountToken(random: [number] + [UInt8](repeating: UInt8($0), count: 15))
        }
    }

    private var goods: [(product: String, kind: ProductKind)] {
        [
            (subscription, .autoRenewable), ("level2", .nonConsumable), (coins, .consumable),
            // The catalog lacks this product, so it credits nothing.
            ("gold", .consumable),
        ]
    }

    /// Returns purchases with or without tokens, sent by any of the people in any order, with
    /// repetitions. Also contains news of the renewal, registrations of tokens, and admins' moves.
    package func acts(_ random: inout SeededGenerator) -> [TokenAct] {
        var acts: [TokenAct] = []
        for (number, good) in goods.enumerated() {
            let carriesTokens = random.chance(70)
            for month in 0..<(good.kind == .consumable ? 1 : random.number(1...4)) {
                let token = carriesTokens && random.chance(60) ? anyToken(&random) : nil
                for statement in 0..<random.number(1...3) {
                    acts.append(
                        .evidence(
                            fact(number, month, statement, token, &random), bearer(&random)))
                }
            }
            if random.chance(30) {
                acts.append(.moved(purchase(number), to: anyone(&random)))
            }
        }
        if random.chance(40) {
            let token = random.chance(60) ? anyToken(&random) : nil
            for hours in 0..<random.number(1...2) {
                acts.append(.news(news(token, hours)))
            }
        }
        for (token, person) in zip(tokens, people) where random.chance(80) {
            acts.append(.registered(token, person))
        }
        for _ in 0..<4 { acts.append(.waits(hours: random.number(1...240))) }
        return acts.shuffled(using: &random)
    }

    /// Returns the same acts, with merges and undone merges of people between them.
    package func actsWithMerges(_ random: inout SeededGenerator) -> [TokenAct] {
        var acts = acts(&random)
        for _ in 0..<random.number(2...6) {
            let act: TokenAct =
                random.chance(60)
                ? .merged(anyone(&random), into: anyone(&random)) : .parted(anyone(&random))
            acts.insert(act, at: Int(random.number(0...Int64(acts.count))))
        }
        for number in goods.indices where random.chance(20) {
            let place = Int(random.number(0...Int64(acts.count)))
            acts.insert(.movedBack(purchase(number)), at: place)
        }
        return acts
    }

    private func purchase(_ number: Int) -> PurchaseID { purchaseID("\(name)-\(number)-0") }

    private func fact(
        _ number: Int, _ month: Int64, _ statement: Int64, _ token: AccountToken?,
        _ random: inout SeededGenerator
    ) -> TransactionFact {
        let good = goods[number]
        let bought = start.advanced(byMilliseconds: month * 30 * day)
        // Signing times are earlier than all acts, so that every order of arrival is possible.
        let signed = start.advanced(byMilliseconds: (month * 10 + statement) * hour)
        var fact = transaction(
            "\(name)-\(number)-\(month)", of: "\(name)-\(number)-0", good.product, good.kind,
            bought,
            signed: signed)
        if good.kind == .autoRenewable { fact.expires = bought.advanced(byMilliseconds: 30 * day) }
        // Some statements about a transaction lack its token.
        if random.chance(70) { fact.accountToken = token?.text }
        return fact
    }

    private func news(_ token: AccountToken?, _ hours: Int64) -> RenewalFact {
        renewal(
            of: "\(name)-0-0", signed: start.advanced(byMilliseconds: (50 + hours) * hour)
        ) {
            $0.product = id(subscription)
            $0.nextProduct = id(subscription)
            $0.accountToken = token?.text
        }
    }

    private func anyToken(_ random: inout SeededGenerator) -> AccountToken {
        tokens[Int(random.number(0...4))]
    }

    private func anyone(_ random: inout SeededGenerator) -> CustomerID {
        people[Int(random.number(0...3))]
    }

    private func bearer(_ random: inout SeededGenerator) -> Submission.Bearer {
        let person = anyone(&random)
        return switch random.number(0...3) {
        case 0: .store
        case 1: .restorer(person)
        default: .customer(person)
        }
    }
}
