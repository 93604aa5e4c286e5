/// Non-renewing purchases of one product. The catalog says how long each purchase lasts, and how
/// several purchases combine.
struct FixedTerms {
    struct Term {
        let source: Right.Source
        let bought: Instant
        let revokedAt: Instant?
    }

    let duration: CalendarDuration
    let stacking: Product.Stacking
    /// The terms in order of purchase.
    let terms: [Term]

    var rights: [Right] {
        switch stacking {
        case .extend: extended
        case .restart: restarted
        case .overlap: terms.map { right($0, from: $0.bought) }
        }
    }

    /// The rights if each term starts when the previous one ends. A revoked term does not delay the others.
    private var extended: [Right] {
        var end = Instant.distantPast
        return terms.map { term in
            let right = right(term, from: max(term.bought, end))
            if !right.interval.isEmpty { end = max(end, right.interval.end ?? .distantFuture) }
            return right
        }
    }

    /// The rights if each term ends when the next one starts. A revoked term does not end any other.
    private var restarted: [Right] {
        var next: Instant?
        let backwards = terms.reversed().map { term in
            var right = right(term, from: term.bought)
            if let next { right.cut(at: next, by: .restart) }
            if term.revokedAt == nil { next = term.bought }
            return right
        }
        return backwards.reversed()
    }

    private func right(_ term: Term, from start: Instant) -> Right {
        let interval = Interval(start: start, end: duration.end(after: start))
        var right = Right(.fixedTerm, of: term.source, interval)
        if let revokedAt = term.revokedAt { right.cut(at: revokedAt, by: .revocation) }
        return right
    }
}
