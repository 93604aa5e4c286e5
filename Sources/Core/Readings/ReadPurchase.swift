/// A purchase from a store that states the current state of its purchases.
extension Purchase {
    package var isRead: Bool { !readings.isEmpty }

    /// Returns whether readings show that the purchase has this id, perhaps from an older or a newer token.
    func isKnown(as name: PurchaseID) -> Bool {
        name.store == id.store && readings.contains { $0.names.contains(name.original) }
    }

    /// Returns whether a reading is about this purchase, under any of the purchase's ids.
    package func isSame(as fact: TransactionFact) -> Bool {
        if id == fact.purchase { return true }
        if id.store != fact.store { return false }
        let names = fact.names
        return names.contains(id.original)
            || readings.contains { !names.isDisjoint(with: $0.names) }
    }

    /// Every id under which the purchase's holder can be looked up: its own id, and the ids from
    /// readings made before all of its tokens were known.
    package var allIDs: [PurchaseID] {
        if readings.isEmpty { return [id] }
        return Set(readings.map(\.original)).union([id.original]).sorted()
            .map { PurchaseID(store: id.store, original: $0) }
    }

    /// `allIDs`, and the names of the purchase's tokens. The purchase may arrive again under any of them.
    var everyID: [PurchaseID] {
        Set(allIDs + tokenNames.map { PurchaseID(store: id.store, original: $0) }).sorted()
    }

    /// The names of the purchase's tokens, and of the tokens that they continue.
    package var tokenNames: [TransactionID] {
        Set(readings.compactMap(\.reading).flatMap(\.names)).sorted()
    }

    /// The period that determines the state of the whole purchase, which is the last period of its
    /// first item. An older token may have been read last, but the newer one that replaced it counts.
    var mainPeriod: Int? {
        let current = Set(periods.lazy.filter(\.isLast).map(\.token))
        let owned = readings.lazy.compactMap(\.reading).filter(\.isOwned)
        let newest = owned.last { current.contains($0.tokenName) } ?? owned.last
        let main = newest?.mainItem?.product
        return periods.indices.last { periods[$0].fact.product == main && periods[$0].isLast }
            ?? periods.indices.last { periods[$0].fact.product == main } ?? periods.indices.last
    }

    /// Returns the store's last statement about the renewal after the transaction; `nil` if another period followed
    /// the transaction.
    func renewal(after index: Int) -> RenewalFact? {
        isRead ? periods[index].isLast ? periods[index].renewal : nil : currentRenewal
    }

    /// Returns the store's statements about the renewal after the transaction.
    func renewals(of index: Int) -> [RenewalFact] {
        isRead ? [periods[index].renewal].compactMap(\.self) : renewals
    }

    /// Returns whether another period followed the transaction's period.
    func isFollowed(_ index: Int) -> Bool {
        isRead ? !periods[index].isLast : transactions.start(after: index) != nil
    }

    /// Returns the readings that mention the transaction.
    package func readings(of index: Int) -> [TransactionFact] {
        if !isRead { return [] }
        let period = periods[index]
        return readings.filter { fact in
            fact.reading?.tokenName == period.token
                || fact.reading?.items.contains { $0.order == period.order } ?? false
        }
    }

    /// Returns the transactions that a reading is about, as described by all readings together.
    func stated(by fact: TransactionFact) -> [TransactionFact] {
        guard let reading = fact.reading else { return [fact] }
        return periods.filter { period in
            if period.isForGood { return period.token == reading.tokenName }
            return reading.items.contains { item in
                item.product == period.fact.product
                    && (item.order ?? reading.tokenName) == period.order
            }
        }.map(\.fact)
    }
}

extension ReadPeriod {
    /// Whether the period is a one-time purchase rather than a subscription period.
    fileprivate var isForGood: Bool { fact.expires == nil }

    /// The order to which the fact belongs, regardless of the transaction's id.
    fileprivate var order: TransactionID {
        fact.lineItem.flatMap { try? TransactionID($0) } ?? fact.transaction
    }
}

extension TransactionFact {
    /// All names under which the purchase may be known.
    var names: Set<TransactionID> { Set([original] + (reading?.names ?? [])) }

    /// The other ids under which the purchase may be known.
    var otherNames: [PurchaseID] {
        names.subtracting([original]).sorted().map { PurchaseID(store: store, original: $0) }
    }

    /// The fact without the time of the statement.
    fileprivate var undatedReading: TransactionFact {
        var fact = self
        fact.signedAt = .distantPast
        if reading?.startedAt == nil { fact.purchased = .distantPast }
        return fact
    }

    /// Returns whether this reading repeats the one immediately before it. The store marks each state of a purchase,
    /// so there was no other state in between.
    fileprivate func repeats(_ other: TransactionFact) -> Bool {
        reading?.tokenName == other.reading?.tokenName && undatedReading == other.undatedReading
    }
}

extension [TransactionFact] {
    /// Returns these readings together with others, in chronological order. Omits readings that only repeated what
    /// was already known at the time.
    func adding(_ others: [TransactionFact]) -> [TransactionFact] {
        let all = Set(self + others).sorted { one, other in
            if one.signedAt != other.signedAt { return one.signedAt < other.signedAt }
            return content(of: other, follows: one)
        }
        var newest: [TransactionID: TransactionFact] = [:]
        return all.filter { fact in
            guard let token = fact.reading?.tokenName else { return false }
            if let known = newest[token], fact.repeats(known) { return false }
            newest[token] = fact
            return true
        }
    }

    /// The name of the whole chain of tokens: a name that continues no other known name, or else the first name.
    var chainName: TransactionID? {
        let names = Set(map(\.original))
        if names.count < 2 { return names.first }
        let continuing = Set(
            compactMap { fact in
                fact.reading.flatMap { $0.continues == nil ? nil : $0.tokenName }
            })
        return names.filter { !continuing.contains($0) }.min() ?? names.min()
    }
}
