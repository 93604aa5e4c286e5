/// A purchase of a store that states its purchases as they are now.
extension Purchase {
    package var isRead: Bool { !readings.isEmpty }

    /// Whether its readings know it under that name: as an older or a newer token's.
    func isKnown(as name: PurchaseID) -> Bool {
        name.store == id.store && readings.contains { $0.names.contains(name.original) }
    }

    /// Whether a reading is about it, under whatever name.
    package func isSame(as fact: TransactionFact) -> Bool {
        if id == fact.purchase { return true }
        if id.store != fact.store { return false }
        let names = fact.names
        return names.contains(id.original)
            || readings.contains { !names.isDisjoint(with: $0.names) }
    }

    /// Every name under which its holder is known: its own, and the names from readings before all of its tokens
    /// were known.
    package var allIDs: [PurchaseID] {
        if readings.isEmpty { return [id] }
        return Set(readings.map(\.original)).union([id.original]).sorted()
            .map { PurchaseID(store: id.store, original: $0) }
    }

    /// The same with the names of its tokens: under each of them it could come again.
    var everyID: [PurchaseID] {
        Set(allIDs + tokenNames.map { PurchaseID(store: id.store, original: $0) }).sorted()
    }

    /// The names of its tokens, and of the tokens that they continue.
    package var tokenNames: [TransactionID] {
        Set(readings.compactMap(\.reading).flatMap(\.names)).sorted()
    }

    /// The period that decides what the whole purchase is: the last one of its first item.
    var mainPeriod: Int? {
        let main = readings.last { $0.reading?.isOwned == true }?.reading?.mainItem?.product
        return periods.indices.last { periods[$0].fact.product == main && periods[$0].isLast }
            ?? periods.indices.last { periods[$0].fact.product == main } ?? periods.indices.last
    }

    /// What the store said last of what follows that transaction; nothing of one that another followed.
    func renewal(after index: Int) -> RenewalFact? {
        isRead ? periods[index].isLast ? periods[index].renewal : nil : currentRenewal
    }

    /// What the store said of what follows that transaction.
    func renewals(of index: Int) -> [RenewalFact] {
        isRead ? [periods[index].renewal].compactMap(\.self) : renewals
    }

    /// Whether another period followed that one.
    func isFollowed(_ index: Int) -> Bool {
        isRead ? !periods[index].isLast : transactions.start(after: index) != nil
    }

    /// The readings that tell of that transaction.
    package func readings(of index: Int) -> [TransactionFact] {
        if !isRead { return [] }
        let period = periods[index]
        return readings.filter { fact in
            fact.reading?.tokenName == period.token
                || fact.reading?.items.contains { $0.order == period.order } ?? false
        }
    }

    /// The transactions that a reading is about, as all readings together describe them.
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
    /// Whether it was bought once, and is no period of a subscription.
    fileprivate var isForGood: Bool { fact.expires == nil }

    /// The order, whatever the transaction is called.
    fileprivate var order: TransactionID {
        fact.lineItem.flatMap { try? TransactionID($0) } ?? fact.transaction
    }
}

extension TransactionFact {
    /// The names under which its purchase may be known.
    var names: Set<TransactionID> { Set([original] + (reading?.names ?? [])) }

    /// The purchases that its own may be known as, besides the one that it names.
    var otherNames: [PurchaseID] {
        names.subtracting([original]).sorted().map { PurchaseID(store: store, original: $0) }
    }

    /// Everything that it states, without when.
    fileprivate var undatedReading: TransactionFact {
        var fact = self
        fact.signedAt = .distantPast
        if reading?.startedAt == nil { fact.purchased = .distantPast }
        return fact
    }

    /// Whether it repeats a reading that came just before it: the store marks each state of a purchase, so nothing
    /// was different in between.
    fileprivate func repeats(_ other: TransactionFact) -> Bool {
        reading?.tokenName == other.reading?.tokenName && undatedReading == other.undatedReading
    }
}

extension [TransactionFact] {
    /// These readings and others, in order of time, without repetitions of what was known at that time.
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

    /// The name of the whole chain: the one that is not known to continue another, or else the first.
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
