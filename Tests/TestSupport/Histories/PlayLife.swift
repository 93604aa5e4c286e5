package import Core

/// A random life of one subscription in Google Play. Only Google's answers at random times are visible.
package struct PlayLife {
    private var random: SeededGenerator
    private var now: Int64 = 0
    private var token = 1
    private var order = 1
    private var revision = 0
    private var start: Int64 = 0
    private var linked: Int?
    private var state = Reading.State.active
    private var ending: Reading.Ending?
    private var items: [Reading.Item] = []
    package private(set) var readings: [TransactionFact] = []

    private static let products = ["plus", "pro", "extra"]

    package init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        begin()
        for _ in 0..<Int.random(in: 3...14, using: &random) {
            if Bool.random(using: &random) || readings.isEmpty { ask() }
            step()
        }
        ask()
    }

    private mutating func pass(_ range: ClosedRange<Int64>) {
        now += Int64.random(in: range, using: &random) * hour
    }

    private mutating func newOrder() -> TransactionID {
        order += 1
        return id("GPA.\(order)")
    }

    private mutating func begin(_ count: Int = 1) {
        (start, state, ending) = (now, .active, nil)
        let paid = newOrder()
        items = Self.products.shuffled(using: &random).prefix(count).map { product in
            playItem(product, paid.text, to: at(0, now + 720 * hour))
        }
    }

    private var end: Int64 { (items[0].expires?.milliseconds ?? 0) - at(0).milliseconds }

    private mutating func change(_ change: (inout Reading.Item) -> Void) {
        for index in items.indices { change(&items[index]) }
    }

    private mutating func next() {
        token += 1
        linked = token - 1
    }

    /// Makes a random change to Google's record of the purchase.
    private mutating func step() {
        revision += 1
        switch (state, Int.random(in: 0..<9, using: &random)) {
        case (.active, 0...2), (.grace, 0...2): renew()
        case (.active, 3): fail()
        case (.active, 4):
            pass(1...200)
            (state, ending) = (.cancelled, .byCustomer)
            change { $0.willRenew = false }
        case (.active, 5), (.cancelled, 5), (.grace, 5): revoke()
        case (.active, 6), (.cancelled, 6): replace()
        case (.active, 7):
            pass(1...200)
            now = max(now, end)
            state = .paused
        case (.active, 8) where items.count > 1:
            pass(1...100)
            items.removeLast()
        case (.active, _):
            pass(1...100)
            if now < end, items.count == 1 { addOn() }
        case (.grace, _), (.cancelled, _): expire()
        case (.onHold, _), (.paused, _):
            pass(1...300)
            if Bool.random(using: &random) { pay(from: now) } else { expire() }
        default:
            pass(1...300)
            next()
            begin(Int.random(in: 1...2, using: &random))
        }
    }

    private mutating func pay(from start: Int64) {
        state = .active
        let paid = newOrder()
        change { ($0.order, $0.expires) = (paid, at(0, start + 720 * hour)) }
    }

    private mutating func renew() {
        let paid = end
        now = max(now, end)
        pass(0...20)
        pay(from: paid)
    }

    private mutating func fail() {
        now = max(now, end)
        let grace = Int64.random(in: 0...5, using: &random) * day
        state = grace == 0 ? .onHold : .grace
        let until = now + grace
        if grace > 0 { change { $0.expires = at(0, until) } }
    }

    private mutating func revoke() {
        pass(1...100)
        (state, ending) = (.expired, .byDeveloper)
        let cut = min(now, end)
        change { ($0.expires, $0.willRenew) = (at(0, cut), false) }
    }

    private mutating func expire() {
        let isUnpaid = state == .grace || state == .onHold
        now = max(now, end)
        pass(0...20)
        (state, ending) = (.expired, isUnpaid ? .bySystem : .byCustomer)
        change { $0.willRenew = false }
    }

    private mutating func replace() {
        pass(1...100)
        next()
        begin()
    }

    private mutating func addOn() {
        let until = items[0].expires
        next()
        let kept = items
        start = now
        let product = Self.products.first { name in !kept.contains { $0.product.text == name } }
        items = kept + [playItem(product ?? "extra", newOrder().text, to: until)]
    }

    /// Asks the store once or twice.
    private mutating func ask() {
        pass(0...3)
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let (start, older, ending) = (
                at(0, start), linked.map { id("t\($0)") as TransactionID }, ending
            )
            readings.append(
                playReading(
                    state, "t\(token)", of: "t1", at: at(0, now), from: start, items,
                    mark: "\(revision)"
                ) {
                    $0.continues = older
                    $0.ending = ending
                })
            pass(0...2)
        }
    }
}

/// A second implementation of what readings say about one product at one moment, written from the
/// documentation. It is slow, and shares nothing with Core.
package struct NaiveReadings {
    private let readings: [TransactionFact]

    package init(_ readings: [TransactionFact]) {
        self.readings = readings.sorted { $0.signedAt < $1.signedAt }
    }

    package func gives(_ product: String, at moment: Instant) -> Bool {
        Set(readings.compactMap { $0.reading?.token }).contains { token in
            gives(product, at: moment, by: readings.filter { $0.reading?.token == token })
                && !isReplaced(token, at: moment)
        }
    }

    /// Every moment that a reading names.
    package var moments: [Instant] {
        let named = readings.flatMap { fact -> [Instant] in
            let ends = fact.reading?.items.compactMap(\.expires) ?? []
            return [fact.signedAt, fact.reading?.startedAt].compactMap(\.self) + ends
        }
        return Set(named).sorted()
    }

    private func isReplaced(_ token: String, at moment: Instant) -> Bool {
        readings.contains { fact in
            guard let reading = fact.reading, reading.continues?.text == token else { return false }
            return reading.startedAt ?? fact.signedAt <= moment
        }
    }

    private func item(_ product: String, _ fact: TransactionFact) -> Reading.Item? {
        fact.reading?.items.first { $0.product.text == product }
    }

    /// Returns the end of the access that a reading gives, or `nil` if it gives none.
    private func end(_ product: String, _ fact: TransactionFact) -> Instant? {
        guard let state = fact.reading?.state, [.active, .grace, .cancelled].contains(state) else {
            return nil
        }
        return item(product, fact)?.expires
    }

    private func gives(
        _ product: String, at moment: Instant, by mine: [TransactionFact]
    ) -> Bool {
        guard let first = mine.first, let start = first.reading?.startedAt, start <= moment else {
            return false
        }
        guard let before = mine.last(where: { $0.signedAt <= moment }) else {
            // The first reading shows that access had begun earlier.
            guard let end = item(product, first)?.expires else { return false }
            return moment < end
        }
        let after = mine.first { $0.signedAt > moment }
        guard let end = end(product, before) else { return false }
        guard let after else { return moment < end }
        guard let next = self.end(product, after) else {
            // The later reading gives no access, so access ended at the time that it states.
            let stop = item(product, after)?.expires ?? end
            return moment < min(stop, after.signedAt)
        }
        let isOnePeriod = item(product, before)?.order == item(product, after)?.order
        return isOnePeriod ? moment < next : true
    }
}
