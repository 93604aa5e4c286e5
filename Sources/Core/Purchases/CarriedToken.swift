/// An account token in the evidence of a purchase, and the transactions that carried it.
package struct CarriedToken: Hashable, Sendable {
    /// A transaction's position among those of its purchase, in the order in which they were made.
    package struct Place: Hashable, Comparable, Sendable {
        package let purchased: Instant
        package let transaction: TransactionID

        package init(purchased: Instant, transaction: TransactionID) {
            self.purchased = purchased
            self.transaction = transaction
        }

        package static func < (one: Place, other: Place) -> Bool {
            (one.purchased, one.transaction) < (other.purchased, other.transaction)
        }
    }
    package let token: AccountToken
    /// The first and the last transaction that carried the token; `nil` if only renewal facts
    /// carried it.
    package private(set) var places: ClosedRange<Place>?

    package init(_ token: AccountToken, places: ClosedRange<Place>? = nil) {
        self.token = token
        self.places = places
    }

    /// Creates the fact's token; `nil` if the fact carries none.
    init?(_ fact: TransactionFact) {
        guard let token = fact.accountToken.flatMap(AccountToken.init) else { return nil }
        let place = Place(purchased: fact.purchased, transaction: fact.transaction)
        self.init(token, places: place...place)
    }

    init?(_ fact: RenewalFact) {
        guard let token = fact.accountToken.flatMap(AccountToken.init) else { return nil }
        self.init(token)
    }

    /// Combines two statements about the same token. The order of the two does not matter.
    func joined(with other: CarriedToken) -> CarriedToken {
        guard let places, let others = other.places else {
            return CarriedToken(token, places: places ?? other.places)
        }
        let first = min(places.lowerBound, others.lowerBound)
        return CarriedToken(token, places: first...max(places.upperBound, others.upperBound))
    }
}

/// The account tokens of one purchase, sorted and without duplicates.
///
/// They come from all recorded facts, including outweighed ones. Joining is commutative,
/// associative and idempotent.
package struct CarriedTokens: Hashable, Sendable {
    package private(set) var all: [CarriedToken] = []

    package init() {}

    package mutating func join(_ carried: CarriedToken) {
        let place = all.firstIndex { carried.token.text <= $0.token.text } ?? all.endIndex
        if place < all.endIndex, all[place].token == carried.token {
            all[place] = all[place].joined(with: carried)
        } else {
            all.insert(carried, at: place)
        }
    }

    mutating func join(_ facts: Facts) {
        for fact in facts.transactions { CarriedToken(fact).map { join($0) } }
        for fact in facts.renewals { CarriedToken(fact).map { join($0) } }
    }

    /// Returns whether the token is already known for these transactions.
    func holds(_ carried: CarriedToken) -> Bool {
        all.contains { $0.token == carried.token && $0.joined(with: carried) == $0 }
    }
}
