package import Core
import Glibc

/// A second implementation of the rules of access, written from the rules' page. It is slow and
/// simple, and shares only the facts with Core. It determines access at single moments, and finds
/// boundaries by trying all moments that a fact names.
package struct NaiveModel {
    package struct Product: Sendable {
        var kind: ProductKind
        var entitlements: [String] = []
        var days: Int64 = 0
        var months = 0
        var stacking = "extend"
        var countsFamily = true
        var credits: [String: Int64] = [:]
    }

    package struct Answer: Hashable, CustomStringConvertible {
        package var isActive: Bool
        package var since: Int64
        package var until: Int64?
        package var state: String
        package var product: String?
        package var willRenew: Bool

        package init(
            isActive: Bool, since: Int64, until: Int64?, state: String, product: String?,
            willRenew: Bool
        ) {
            self.isActive = isActive
            self.since = since
            self.until = until
            self.state = state
            self.product = product
            self.willRenew = willRenew
        }

        package var description: String {
            "\(isActive ? "active" : "inactive") since \(since) until \(until.map(String.init) ?? "-")"
                + " \(state) \(product ?? "-") \(willRenew ? "renews" : "ends")"
        }
    }

    /// The result of all statements about a transaction.
    struct Weighed {
        var id: String
        var fact: TransactionFact
        var kind: ProductKind?
        var start: Int64
        var expires: Int64?
        var revoked: Revocation?
        var isUpgraded: Bool
    }

    /// Something that gives access from one moment to another, unless it is ended earlier.
    package struct Source {
        var entitlements: [String]
        var product: String?
        var start: Int64
        var end: Int64?
        var isGrace = false
        var stateInside: String
        var stateAfter = "expired"
        /// Whether the store revoked the source. It may do so even after the source's end.
        var isTakenBack = false
        var willRenew: Bool?
        var isSubscription = false
        /// The source's purchase, and when support blocked it.
        var original: String?
        var blocks: [(since: Int64, until: Int64?)] = []

        /// Ends the source if it would last longer.
        mutating func end(at moment: Int64, as state: String) {
            if let end, end <= moment { return }
            end = max(moment, start)
            stateAfter = state
        }

        var stateInTheEnd: String {
            isTakenBack && stateAfter != "upgraded" ? "revoked" : stateAfter
        }

        func covers(_ moment: Int64) -> Bool {
            start <= moment && (end.map { moment < $0 } ?? true)
        }
    }

    let products: [String: Product]
    package let facts: Facts
    let deeds: [SupportDeed]

    package init(products: [String: Product], facts: Facts, deeds: [SupportDeed] = []) {
        self.products = products
        self.facts = facts
        self.deeds = deeds
    }
}

// MARK: What was stated

extension NaiveModel {
    private var originals: [String] {
        Set(facts.transactions.map(\.original.text)).sorted()
    }

    private func weighed(_ original: String) -> [Weighed] {
        let mine = facts.transactions.filter { $0.original.text == original }
        return Set(mine.map(\.transaction.text))
            .map { name in weigh(mine.filter { $0.transaction.text == name }, as: name) }
            .sorted { ($0.start, $0.id) < ($1.start, $1.id) }
    }

    private func weigh(_ statements: [TransactionFact], as name: String) -> Weighed {
        let legacy = statements.filter { $0.rank.rawValue <= 2 }
        let signed = statements.filter { $0.rank.rawValue > 2 }.sorted { isOlder($0, $1) }.last
        let main = signed ?? legacy.sorted { $0.rank.rawValue < $1.rank.rawValue }.last
        guard let main else { preconditionFailure("\(name) has no statements") }
        var revoked = signed?.revocation
        if revoked == nil {
            let taken = legacy.compactMap(\.revocation).sorted { $0.at < $1.at }.last
            if let taken, signed.map({ taken.at > $0.signedAt }) ?? true { revoked = taken }
        }
        let ends = (legacy.map(\.expires) + [main.expires]).compactMap { $0?.milliseconds }
        // Old receipts do not state the kind, so it comes from the catalog.
        let kind = statements.compactMap(\.kind).first ?? products[main.product.text]?.kind
        return Weighed(
            id: name, fact: main, kind: kind, start: main.purchased.milliseconds,
            expires: ends.max(),
            revoked: revoked,
            isUpgraded: (signed?.isUpgraded ?? false) || legacy.contains(where: \.isUpgraded))
    }

    private func isOlder(_ one: TransactionFact, _ other: TransactionFact) -> Bool {
        if one.signedAt != other.signedAt { return one.signedAt < other.signedAt }
        if one.rank != other.rank { return one.rank.rawValue < other.rank.rawValue }
        let (taken, otherTaken) = (one.revocation?.at, other.revocation?.at)
        if taken != otherTaken {
            guard let taken, let otherTaken else { return taken == nil }
            return taken < otherTaken
        }
        if one.isUpgraded != other.isUpgraded { return other.isUpgraded }
        if let end = one.expires, let otherEnd = other.expires, end != otherEnd {
            return end < otherEnd
        }
        return one.items.compactMap(\.revokedAt).count < other.items.compactMap(\.revokedAt).count
    }
}

// MARK: The rules

extension NaiveModel {
    func counts(_ weighed: Weighed) -> Bool {
        weighed.fact.ownership != .familyShared || product(of: weighed).countsFamily
    }

    func product(of weighed: Weighed) -> Product {
        products[weighed.fact.product.text] ?? Product(kind: .consumable)
    }

    package func sources() -> [Source] {
        let bought = originals.flatMap { original in
            sources(of: original).map { source in
                var source = source
                source.original = original
                return source
            }
        }
        let others = (bought + terms()).flatMap(outsideBlocks) + installations() + plainGrants()
        return others + waitingGrants(behind: others)
    }

    private func sources(of original: String) -> [Source] {
        let all = weighed(original)
        guard let kind = all.compactMap(\.kind).first else { return [] }
        switch kind {
        case .autoRenewable: return periods(original, all)
        case .nonConsumable: return lifetime(original, all)
        case .nonRenewing, .consumable: return []
        }
    }

    /// Returns what a transaction gives by its own product and by each product that it represents.
    func withItems(of weighed: Weighed, _ source: Source) -> [Source] {
        let each = weighed.fact.items.compactMap { item -> Source? in
            guard let product = products[item.product.text] else { return nil }
            if weighed.fact.ownership == .familyShared, !product.countsFamily { return nil }
            var part = source
            (part.entitlements, part.product) = (product.entitlements, item.product.text)
            if let revoked = item.revokedAt { part.end(at: revoked.milliseconds, as: "revoked") }
            return part
        }
        return [source] + each
    }

    private func lifetime(_ original: String, _ all: [Weighed]) -> [Source] {
        let merged = weigh(
            facts.transactions.filter { $0.original.text == original }, as: original)
        guard counts(merged) else { return [] }
        let starts = all.flatMap {
            [$0.start, $0.fact.originallyPurchased?.milliseconds].compactMap(\.self)
        }
        var source = Source(
            entitlements: product(of: merged).entitlements, product: merged.fact.product.text,
            start: starts.min() ?? 0, end: nil, stateInside: "active")
        if let revoked = merged.revoked {
            source.end(at: revoked.at.milliseconds, as: "revoked")
        }
        return withItems(of: merged, source)
    }

    private func terms() -> [Source] {
        let all = originals.flatMap { weighed($0) }
            .filter { $0.kind == .nonRenewing && counts($0) }
        return Set(all.map(\.fact.product.text)).sorted().flatMap { name in
            let product = products[name] ?? Product(kind: .nonRenewing)
            let bought = all.filter { $0.fact.product.text == name }
                .sorted { ($0.start, $0.fact.original.text) < ($1.start, $1.fact.original.text) }
            return terms(bought, product, name)
        }
    }

    private func terms(_ bought: [Weighed], _ product: Product, _ name: String) -> [Source] {
        var sources: [Source] = []
        for (index, one) in bought.enumerated() {
            var start = one.start
            if product.stacking == "extend" {
                let ends = sources.filter { $0.end ?? 0 > $0.start }.compactMap(\.end)
                start = max(start, ends.max() ?? start)
            }
            var source = Source(
                entitlements: product.entitlements, product: name, start: start,
                end: NaiveModel.end(of: product, from: start), stateInside: "active",
                original: one.fact.original.text)
            let later = bought[(index + 1)...].first { $0.revoked == nil }
            // The source ends at its revocation or at the restart, whichever comes first.
            if product.stacking == "restart", let later,
                one.revoked.map({ later.start <= $0.at.milliseconds }) ?? true
            {
                source.end(at: later.start, as: "expired")
            }
            if let revoked = one.revoked {
                source.end(at: revoked.at.milliseconds, as: "revoked")
            }
            sources.append(source)
        }
        return sources
    }

    private func installations() -> [Source] {
        let real = facts.apps.filter { $0.environment == .production }
        // In these histories, there is one app, and its versions have the form of one number with a dot.
        guard let first = real.min(by: { earlier($0, $1) }),
            let major = Int(
                first.originalVersion.prefix { $0 != "." }), major < 2
        else { return [] }
        return [
            Source(
                entitlements: ["legacy"], product: nil,
                start: (first.originallyPurchased ?? first.signedAt).milliseconds, end: nil,
                stateInside: "active")
        ]
    }

    private func earlier(_ one: AppFact, _ other: AppFact) -> Bool {
        let (left, right) = (Double(one.originalVersion) ?? 0, Double(other.originalVersion) ?? 0)
        if left != right { return left < right }
        return (one.originallyPurchased ?? one.signedAt)
            < (other.originallyPurchased ?? other.signedAt)
    }

    /// Adds the product's length to the start, using the C library's calendar.
    static func end(of product: Product, from start: Int64) -> Int64 {
        if product.months == 0 { return start + product.days * 86_400_000 }
        var seconds = time_t(start / 1000)
        var date = tm()
        gmtime_r(&seconds, &date)
        let month = Int(date.tm_mon) + product.months
        date.tm_year += Int32(month / 12)
        date.tm_mon = Int32(month % 12)
        let day = date.tm_mday
        // For 31 February, the C library gives 3 March, but the result must be the last day of February.
        var tried = date
        var end = timegm(&tried)
        if tried.tm_mday != day {
            date.tm_mday = day - tried.tm_mday
            end = timegm(&date)
        }
        return Int64(end) * 1000 + start % 1000
    }
}

// MARK: Balances

extension NaiveModel {
    /// Returns the coins from all consumables, less refunds.
    package func balances() -> [String: Int64] {
        var totals: [String: Int64] = [:]
        for weighed in originals.flatMap(weighed) where weighed.kind == .consumable {
            let items = weighed.fact.items
            let sold = items.isEmpty ? [weighed.fact.product] : items.map(\.product)
            let credits = sold.reduce(into: [String: Int64]()) { sum, product in
                sum.merge(products[product.text]?.credits ?? [:], uniquingKeysWith: +)
            }
            for (currency, amount) in credits {
                let whole = amount * weighed.fact.quantity
                var back: Int64 = 0
                if let revoked = weighed.revoked {
                    let isPart = revoked.extent == .prorated
                    back = isPart ? whole * (revoked.milliPercent ?? 100_000) / 100_000 : whole
                } else if !items.isEmpty, items.allSatisfy({ $0.revokedAt != nil }) {
                    back = whole
                }
                if isBlocked(weighed.fact.original.text) { back = whole }
                totals[currency, default: 0] += whole - back
            }
        }
        return totals
    }
}

extension NaiveModel {
    /// Returns the ids of refund requests that are still undecided.
    package func openRefundRequests() -> Set<String> {
        let first = Dictionary(grouping: facts.refunds, by: \.id.text).compactMapValues { told in
            told.min { $0.signedAt < $1.signedAt }
        }
        let all = originals.flatMap(weighed)
        let open = first.values.filter { request in
            guard case .requested = request.stage else { return false }
            let isDeclined = first.values.contains {
                $0.stage == .declined && $0.transaction == request.transaction
                    && $0.signedAt >= request.signedAt
            }
            let fate = all.first { $0.id == request.transaction.text }?.revoked
            return !isDeclined && fate.map { $0.at < request.signedAt } ?? true
        }
        return Set(open.map(\.id.text))
    }

    /// Returns the withdrawn consents, and when each was first reported.
    package func consents() -> [String: Int64] {
        Dictionary(grouping: facts.consents, by: \.id.text).compactMapValues { told in
            told.map(\.signedAt.milliseconds).min()
        }
    }
}
