package enum IntakeKind {}
package typealias IntakeID = Identifier<IntakeKind>

/// A request to record evidence once it can be judged.
package struct IntakeWish: Hashable, Sendable {
    /// Who sent the evidence, and for what purpose.
    package enum Purpose: Hashable, Sendable {
        case submit(CustomerID)
        case restore(CustomerID)
        /// The store sent the evidence. Stores do not know the customers of a project.
        case notification

        package enum Word: String, Sendable {
            case submit
            case restore
            case notification
        }

        package var word: Word {
            switch self {
            case .submit: .submit
            case .restore: .restore
            case .notification: .notification
            }
        }

        package var customer: CustomerID? {
            switch self {
            case .submit(let customer), .restore(let customer): customer
            case .notification: nil
            }
        }
    }
    package let project: ProjectID
    package let purpose: Purpose
    /// The customer's order that the evidence should fulfil.
    package let order: OrderID?
    /// The evidence's unverified claims about itself. Deed first asks the environment that these claims name.
    package let heading: EvidenceHeading

    package init(
        project: ProjectID, purpose: Purpose, order: OrderID?, heading: EvidenceHeading
    ) {
        self.project = project
        self.purpose = purpose
        self.order = order
        self.heading = heading
    }
}

/// A piece of queued evidence and its status.
package struct IntakeItem: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// The evidence could not be judged yet, for this reason.
        case waiting(IntakeReason?, nextTry: Instant)
        case believed([IntakeResult])
        case refused(IntakeReason)
        /// A person resolved the matter in another way.
        case settled(AdminAct)
        /// A person decided to ignore the evidence.
        case dropped(AdminAct)
    }
    package let id: IntakeID
    package let wish: IntakeWish
    package let addedAt: Instant
    package private(set) var changedAt: Instant
    package private(set) var state: State
    /// How many attempts to judge the evidence have begun since the item was added or last retried
    /// manually.
    package private(set) var tries: Int64
    /// The admin who last requested a retry, and why.
    package private(set) var retriedBy: AdminAct?
    /// Increases with every change, so that concurrent writers cannot overwrite each other's changes.
    package let revision: Int64

    package init(
        id: IntakeID, wish: IntakeWish, state: State, tries: Int64, retriedBy: AdminAct?,
        addedAt: Instant, changedAt: Instant, revision: Int64
    ) {
        self.id = id
        self.wish = wish
        self.state = state
        self.tries = tries
        self.retriedBy = retriedBy
        self.addedAt = addedAt
        self.changedAt = changedAt
        self.revision = revision
    }

    /// Creates a new item, due immediately.
    package init(_ id: IntakeID, _ wish: IntakeWish, now: Instant) {
        self.init(
            id: id, wish: wish, state: .waiting(nil, nextTry: now), tries: 0, retriedBy: nil,
            addedAt: now, changedAt: now, revision: 0)
    }
}

/// An item that a worker has taken from the queue, with its evidence.
package struct TakenIntake: Hashable, Sendable {
    package let item: IntakeItem
    package let bytes: [UInt8]

    package init(item: IntakeItem, bytes: [UInt8]) {
        self.item = item
        self.bytes = bytes
    }
}

/// The items in the queue that a worker should skip because enough workers are already asking stores.
package struct BusyStores: Sendable {
    /// The kinds of evidence that a store may have to judge.
    package let kinds: [EvidenceKind]
    /// The apps for which stores are already judging the maximum number of items.
    package let apps: [AppKey]
    /// Whether the limit across all apps has been reached.
    package let isFull: Bool

    package init(kinds: [EvidenceKind] = [], apps: [AppKey] = [], isFull: Bool = false) {
        self.kinds = kinds
        self.apps = apps
        self.isFull = isFull
    }
}

/// Why evidence is waiting or was refused.
package struct IntakeReason: Hashable, Sendable {
    /// The stable code, for comparison by programs.
    package let code: String
    package let sentence: String

    package init(code: String, sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    package init(_ refused: RefusedEvidence) {
        self.init(code: refused.code, sentence: refused.sentence)
    }
}

/// The result of judging evidence, for one of its purchases or for the app itself.
package struct IntakeResult: Hashable, Sendable {
    package let purchase: String?
    package let transaction: String?
    /// The outcome, named as in the answer to a submission.
    package let outcome: String
    /// The order that support had already settled.
    package let order: String?
    /// Why the evidence was refused; `nil` if it was not refused.
    package let reason: IntakeReason?
    /// The product, if the catalog did not know it.
    package let unknownProduct: String?

    package init(
        purchase: String?, transaction: String?, outcome: String, order: String? = nil,
        reason: IntakeReason? = nil, unknownProduct: String? = nil
    ) {
        self.unknownProduct = unknownProduct
        self.purchase = purchase
        self.transaction = transaction
        self.outcome = outcome
        self.order = order
        self.reason = reason
    }
}

/// A person's decision about a queued item.
package enum IntakeDecision: String, Sendable, CaseIterable {
    /// To judge the item now as if it were new, even if it was refused or ended manually.
    case retry
    /// To end the item, because the matter was resolved in another way.
    case settle
    /// To end the item without any effect.
    case drop
}

/// The person who made a manual decision, and the reason.
package struct AdminAct: Hashable, Sendable {
    package let actor: Actor
    package let reason: Reason
    package let ticket: Ticket?

    package init(actor: Actor, reason: Reason, ticket: Ticket?) {
        self.actor = actor
        self.reason = reason
        self.ticket = ticket
    }
}

extension IntakeItem.State {
    package enum Word: String, Hashable, Sendable, CaseIterable {
        case waiting
        case believed
        case refused
        case settled
        case dropped
    }

    package var word: Word {
        switch self {
        case .waiting: .waiting
        case .believed: .believed
        case .refused: .refused
        case .settled: .settled
        case .dropped: .dropped
        }
    }
}

extension IntakeItem {
    package var nextTry: Instant? {
        if case .waiting(_, let nextTry) = state { nextTry } else { nil }
    }

    /// Why the item is waiting or was refused.
    package var reason: IntakeReason? {
        switch state {
        case .waiting(let reason, _): reason
        case .refused(let reason): reason
        default: nil
        }
    }

    /// The item with its previous revision, so that storing a repeated change has no effect.
    package var unrevised: IntakeItem {
        IntakeItem(
            id: id, wish: wish, state: state, tries: tries, retriedBy: retriedBy, addedAt: addedAt,
            changedAt: changedAt, revision: revision - 1)
    }

    /// The last decision that a person made about the item.
    package var act: AdminAct? {
        switch state {
        case .settled(let act), .dropped(let act): act
        default: retriedBy
        }
    }

    /// Returns the item after an attempt to judge its evidence.
    package func judged(
        _ judgement: Judgement<[IntakeResult], Postponement>, now: Instant, jitter: UInt16
    ) -> IntakeItem {
        var item = self
        item.changedAt = now
        switch judgement {
        case .believed(let results): item.state = .believed(results)
        case .refused(let refused): item.state = .refused(IntakeReason(refused))
        case .undecided(let wait):
            let pause = IntakeItem.pause(afterTries: tries, jitter: jitter)
            let nextTry = max(now.advanced(byMilliseconds: pause), wait.until ?? now)
            item.state = .waiting(
                wait.reason,
                nextTry: min(nextTry, now.advanced(byMilliseconds: IntakeItem.longestWait)))
        }
        return item
    }

    /// Returns the item after a person's decision.
    package func decided(
        _ decision: IntakeDecision, by act: AdminAct, now: Instant
    ) throws(Refusal) -> IntakeItem {
        switch decision {
        case .retry: try retried(by: act, now: now)
        case .settle: try ended(.settled(act), now: now)
        case .drop: try ended(.dropped(act), now: now)
        }
    }

    private func ended(_ end: State, now: Instant) throws(Refusal) -> IntakeItem {
        if state.word == end.word { return self }
        guard [.waiting, .refused].contains(state.word) else {
            throw .intake(.ended(id, state.word))
        }
        var item = self
        item.state = end
        item.changedAt = now
        return item
    }

    /// Returns the item, due immediately like a new one. Accepted evidence stays recorded.
    private func retried(by act: AdminAct, now: Instant) throws(Refusal) -> IntakeItem {
        if case .believed = state { throw .intake(.ended(id, .believed)) }
        var item = self
        item.retriedBy = act
        item.state = .waiting(reason, nextTry: now)
        item.tries = 0
        item.changedAt = now
        return item
    }
}
