import Core

/// An act of support on a customer.
package enum SupportDeed: Hashable, Sendable {
    case grant(String, to: String, from: Int64, until: Int64?)
    /// A grant that begins once nothing else gives the entitlement, and lasts this many days.
    case waitingGrant(String, to: String, since: Int64, days: Int64)
    case change(String, until: Int64?)
    /// Changes the length of a waiting grant.
    case changeLength(String, days: Int64)
    case revoke(String, at: Int64)
    case block(String, since: Int64)
    case unblock(String, at: Int64)
}

/// The effects of support's acts, according to the page about the rules.
extension NaiveModel {
    func plainGrants() -> [Source] {
        deeds.compactMap { deed in
            guard case .grant(let name, let entitlement, let start, let first) = deed else {
                return nil
            }
            var end = first
            for case .change(name, let until) in deeds { end = until }
            return grant(name, of: entitlement, from: start, until: end)
        }
    }

    /// Returns the waiting grants one after another. Each begins when nothing else gives its entitlement.
    func waitingGrants(behind others: [Source]) -> [Source] {
        var all = others
        var waiting: [Source] = []
        for deed in deeds {
            guard case .waitingGrant(let name, let entitlement, let since, let first) = deed else {
                continue
            }
            let rivals = all.filter { $0.entitlements.contains(entitlement) }
            // Access can only end at these moments.
            let moments = [since] + rivals.compactMap(\.end).filter { $0 > since }.sorted()
            let start = moments.first { moment in !rivals.contains { $0.covers(moment) } }
            guard let start else { continue }
            var days: Int64? = first
            var end: Int64?
            for other in deeds {
                switch other {
                case .changeLength(name, let length): (days, end) = (length, nil)
                case .change(name, let until): (days, end) = (nil, until)
                default: break
                }
            }
            let source = grant(
                name, of: entitlement, from: start,
                until: days.map { start + $0 * day } ?? end.map { max(start, $0) })
            waiting.append(source)
            all.append(source)
        }
        return waiting
    }

    private func grant(
        _ name: String, of entitlement: String, from start: Int64, until end: Int64?
    ) -> Source {
        var source = Source(
            entitlements: [entitlement], product: nil, start: start, end: end,
            stateInside: "active")
        for case .revoke(name, let moment) in deeds { source.end(at: moment, as: "revoked") }
        return source
    }

    private func blocks(of original: String) -> [(since: Int64, until: Int64?)] {
        var blocks: [(since: Int64, until: Int64?)] = []
        for deed in deeds {
            switch deed {
            case .block(original, let since): blocks.append((since, nil))
            case .unblock(original, let moment) where blocks.last.map { $0.until == nil } ?? false:
                blocks[blocks.count - 1].until = moment
            default: break
            }
        }
        return blocks
    }

    /// Returns whether support has blocked the purchase, so that it does not affect balances.
    func isBlocked(_ original: String) -> Bool {
        blocks(of: original).last.map { $0.until == nil } ?? false
    }

    /// Returns the parts of the source outside the times when support blocked the purchase.
    func outsideBlocks(_ source: Source) -> [Source] {
        guard let original = source.original else { return [source] }
        var whole = source
        whole.blocks = blocks(of: original)
        if whole.end.map({ $0 <= whole.start }) ?? false { return [whole] }
        var pieces: [Source] = []
        for block in whole.blocks {
            let isOver = block.until.map { $0 <= whole.start } ?? false
            let isLater = whole.end.map { $0 <= block.since } ?? false
            if isOver || isLater { continue }
            var piece = whole
            piece.end = max(whole.start, block.since)
            guard let until = block.until, whole.end.map({ until < $0 }) ?? true else {
                return pieces + [piece]
            }
            if piece.end != piece.start { pieces.append(piece) }
            whole.start = max(whole.start, until)
        }
        return pieces + [whole]
    }
}

extension NaiveModel.Source {
    func isBlocked(at moment: Int64) -> Bool {
        blocks.contains { block in
            block.since <= moment && (block.until.map { moment < $0 } ?? true)
        }
    }
}
