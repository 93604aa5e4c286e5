/// All statements ever made about one transaction, combined.
///
/// Combining statements is commutative, associative and idempotent. The result therefore depends
/// only on the set of facts. Facts may arrive late, repeatedly or in any order.
package enum TransactionEvidence: Hashable, Sendable {
    case signed(TransactionFact)
    case legacy(TransactionFact)
    indirect case both(signed: TransactionFact, legacy: TransactionFact)

    package init(_ fact: TransactionFact) {
        self = fact.rank.isLegacy ? .legacy(fact) : .signed(fact)
    }

    /// The prevailing signed statement, if any.
    package var signed: TransactionFact? {
        switch self {
        case .signed(let fact), .both(let fact, _): fact
        case .legacy: nil
        }
    }

    /// The combined statements of all receipts, if any.
    package var legacy: TransactionFact? {
        switch self {
        case .legacy(let fact), .both(_, let fact): fact
        case .signed: nil
        }
    }

    /// The facts that produce this result when they are combined.
    package var facts: [TransactionFact] { [signed, legacy].compactMap(\.self) }

    /// The transaction as described by all statements together.
    package var effective: TransactionFact {
        switch self {
        case .signed(let fact), .legacy(let fact): fact
        case .both(let signed, let legacy): signed.supplemented(by: legacy)
        }
    }

    /// Ignores a receipt's signing time, which decides nothing. The time shown is that of the first receipt that
    /// added something new.
    package static func == (one: Self, other: Self) -> Bool {
        one.signed == other.signed && one.legacy?.undated == other.legacy?.undated
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(signed)
        hasher.combine(legacy?.undated)
    }

    mutating func join(_ fact: TransactionFact) {
        if fact.rank.isLegacy {
            join(legacy: fact)
        } else {
            join(signed: fact)
        }
    }

    mutating func join(_ other: TransactionEvidence) {
        for fact in other.facts { join(fact) }
    }

    private mutating func join(signed fact: TransactionFact) {
        switch self {
        case .signed(let known):
            if fact.outweighs(known) { self = .signed(fact) }
        case .both(let known, let legacy):
            if fact.outweighs(known) { self = .both(signed: fact, legacy: legacy) }
        case .legacy(let legacy):
            self = .both(signed: fact, legacy: legacy)
        }
    }

    private mutating func join(legacy fact: TransactionFact) {
        switch self {
        case .signed(let signed):
            self = .both(signed: signed, legacy: fact)
        case .legacy(let known):
            self = .legacy(known.joined(withLegacy: fact))
        case .both(let signed, let known):
            self = .both(signed: signed, legacy: known.joined(withLegacy: fact))
        }
    }
}

extension TransactionFact {
    /// Combines two receipts. A receipt can only add something: a later end, a later revocation, or an upgrade. A
    /// receipt that only repeats known facts changes nothing, whatever its age.
    fileprivate func joined(withLegacy other: TransactionFact) -> TransactionFact {
        var joined = base.isPreferred(to: other.base) ? self : other
        joined.kind = [kind, other.kind].compactMap(\.self).max { $0.rawValue < $1.rawValue }
        joined.expires = latest(expires, other.expires)
        joined.isUpgraded = isUpgraded || other.isUpgraded
        joined.revocation = later(revocation, other.revocation)
        return joined
    }

    fileprivate var undated: TransactionFact {
        var fact = self
        fact.signedAt = .distantPast
        return fact
    }

    /// The members that always come together from a single receipt.
    private var base: TransactionFact {
        var base = undated
        base.kind = nil
        base.expires = nil
        base.isUpgraded = false
        base.revocation = nil
        return base
    }

    private func isPreferred(to other: TransactionFact) -> Bool {
        if rank != other.rank { return rank > other.rank }
        return self == other || content(of: self, follows: other)
    }

    /// Returns this signed statement with a receipt's possible additions: a later end, and a revocation after the
    /// statement was signed. Receipts never undo a revocation.
    fileprivate func supplemented(by legacy: TransactionFact) -> TransactionFact {
        var fact = self
        fact.kind = kind ?? legacy.kind
        fact.expires = latest(expires, legacy.expires)
        fact.isUpgraded = isUpgraded || legacy.isUpgraded
        if revocation == nil, let revocation = legacy.revocation, revocation.at > signedAt {
            fact.revocation = revocation
        }
        return fact
    }
}

private func latest(_ one: Instant?, _ other: Instant?) -> Instant? {
    [one, other].compactMap(\.self).max()
}

private func later(_ one: Revocation?, _ other: Revocation?) -> Revocation? {
    guard let one, let other else { return one ?? other }
    if one.at != other.at { return one.at > other.at ? one : other }
    return one == other || content(of: one, follows: other) ? one : other
}
