/// Non-renewing purchases of one product: the catalog says how long each lasts, and how several in
/// a row combine.
struct FixedTerms {
    struct Term {
        let source: Right.Source
        let bought: Instant
        let revokedAt: Instant?
    }

    let duration: CalendarDuration
    let stacking: Product.Stacking
    /// In the order in which they were bought.
    let terms: [Term]

    var rights: [Right] {
        switch stacking {
        case .extend: extended
        case .restart: restarted
        case .overlap: terms.map { right($0, from: $0.bought) }
        }
    }

    /// Each starts when the one before it ends. A revoked one delays no other.
    private var extended: [Right] {
        var end = Instant.distantPast
        return terms.map { term in
            let right = right(term, from: max(term.bought, end))
            if !right.interval.isEmpty { end = max(end, right.interval.end ?? .distantFuture) }
            return right
        }
    }

    /// Each ends when the next one starts. A revoked one ends no other term.
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
