/// A customer's purchases, sorted by id.
extension [Purchase] {
    /// Returns the index of the purchase with this id, or the index at which to insert it.
    func place(for id: PurchaseID) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the index of the purchase. Readings may have given the purchase several ids.
    func place(of id: PurchaseID, hasReadings: Bool) -> Int? {
        let place = place(for: id)
        if place < endIndex, self[place].id == id { return place }
        return hasReadings ? firstIndex { $0.isKnown(as: id) } : nil
    }

    /// Adds a reading. The reading may show that two purchases are the same because one token
    /// continues the other.
    mutating func join(reading fact: TransactionFact) {
        let same = indices.filter { self[$0].isSame(as: fact) }
        var purchase = same.first.map { self[$0] } ?? Purchase(fact.purchase)
        for other in same.dropFirst() { purchase.join([], of: self[other]) }
        purchase.join(fact)
        for index in same.reversed() { remove(at: index) }
        insert(purchase, at: place(for: purchase.id))
    }
}
