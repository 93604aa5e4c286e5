import Core
import Postgres
import SQL

/// A commit's changes to the tables of tokens that do not belong to a customer.
struct FreeTokenRows {
    private let known: KnownTokens
    /// Rows that no event of their keeper supports, and that are therefore removed.
    private let strays: [StrayToken]
    private var waiting: [Row] = []
    private var carried: [Row] = []
    /// Streams whose purchases have stopped waiting.
    private var released: [Stream] = []
    /// Purchases that left their holder, or that stay regardless of their tokens.
    private var settled: [(holder: Stream, purchase: PurchaseID)] = []

    init(_ known: KnownTokens, strays: [StrayToken]) {
        self.known = known
        self.strays = strays
    }

    /// Adds a stream's events. `origin` is the state after those events.
    mutating func add(_ events: [Event], of origin: Origin) {
        var seen = Set<PurchaseID>()
        for event in events {
            guard let id = event.purchaseOfTokens, seen.insert(id).inserted else { continue }
            let isWaiting = origin.stream.customer.isReserved
            guard let purchase = origin.customer.purchase(id) else {
                if isWaiting {
                    released.append(origin.stream)
                } else {
                    settled.append((origin.stream, id))
                }
                continue
            }
            // Most tokens belong to a customer and need no further lookup.
            let free = purchase.tokens.filter {
                known.owners[TokenKey($0.text, in: origin.stream)] == nil
            }
            if free.isEmpty { continue }
            if isWaiting {
                let stated = Set(events.compactMap(\.carried?.token))
                waiting += rows(of: purchase, free, origin) { stated.contains($0) }
            } else if origin.customer.keepsAgainstTokens(purchase) {
                settled.append((origin.stream, id))
            } else {
                carried += rows(of: purchase, free, origin) { _ in false }
            }
        }
    }

    /// Returns rows for the free tokens. A token counts as looked up if its owner was requested, or if it could only
    /// come from a lookup.
    private func rows(
        of purchase: Purchase, _ tokens: [AccountToken], _ origin: Origin,
        _ isStated: (AccountToken) -> Bool
    ) -> [Row] {
        purchase.carrying(tokens, in: origin.stream).map { carrying in
            let key = TokenKey(carrying.token.text, in: origin.stream)
            let isLookedAt = known.lookedAt.contains(key) || isStated(carrying.token)
            return Table.carriedTokens.shape.lead(of: origin.stream)
                + carrying.name(in: origin.stream) + carrying.cells(isLookedAt: isLookedAt)
        }
    }

    /// Tokens that no other commit may assign in the meantime.
    var awaited: [String?] { (waiting + carried).map { $0[2].text } }

    /// These calls run before customers get tokens, because no purchase may wait under those tokens.
    var removals: [Call] {
        let gone = strays.filter { !$0.isKept }.map(\.keeper)
        let kept = strays.filter(\.isKept).map(\.row)
        return [
            Table.unclaimed.clear(gone), Table.unclaimedTokens.clear(gone + released),
            kept.isEmpty ? nil : Table.unclaimedTokens.remove(kept),
            settled.isEmpty ? nil : dropping, known.claimed.isEmpty ? nil : forgetting,
        ].compactMap(\.self)
    }

    /// These calls run after customers' tokens are written, because they read those tokens.
    var writes: [Call] {
        (waiting.isEmpty ? [] : [Table.unclaimedTokens.write(waiting)])
            + (carried.isEmpty ? [] : [Table.carriedTokens.write(carried)])
    }

    private var dropping: Call {
        Statement.dropCarriedTokens(
            .texts(settled.map(\.holder.project.text)),
            .texts(settled.map(\.holder.environment.rawValue)),
            .texts(settled.map(\.holder.customer.text)),
            .texts(settled.map(\.purchase.store.rawValue)),
            .texts(settled.map(\.purchase.original.text)))
    }

    private var forgetting: Call {
        let claimed = known.claimed
        return Statement.forgetCarriedTokens(
            .texts(claimed.map(\.token.project.text)),
            .texts(claimed.map(\.token.environment.rawValue)), .texts(claimed.map(\.token.token)),
            .texts(claimed.map(\.purchase?.store.rawValue)),
            .texts(claimed.map(\.purchase?.original.text)),
            .texts(claimed.map(\.claimant?.text)))
    }
}

extension StrayToken {
    /// The row key of the waiting purchase.
    fileprivate var row: Row {
        [
            .text(token.project.text), .text(token.environment.rawValue), .text(token.token),
            .text(purchase.store.rawValue), .text(purchase.original.text),
        ]
    }
}

extension Event {
    /// The purchase whose tokens the event added, removed, or made irrelevant.
    fileprivate var purchaseOfTokens: PurchaseID? {
        switch self {
        case .purchaseDetached(let detached): detached.purchase
        case .purchaseAttached(let attached): attached.purchase
        case .balanceCredited(let credited): credited.purchase
        default: carried?.held.purchase
        }
    }
}
