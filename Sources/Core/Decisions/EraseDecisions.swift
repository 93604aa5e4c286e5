/// A token for the data that an admin saw in the preview of an erasure. An erasure with an intent erases exactly that
/// data, or Deed refuses it.
package struct ErasureIntent: Hashable, Sendable {
    /// How long an intent is valid, in milliseconds.
    package static let lifetime: Int64 = 15 * 60_000
    /// How far the clock of the instance that issued the intent may be ahead of the clock of the
    /// instance that checks it.
    private static let apart: Int64 = 60_000
    private static let prefix = "er_"

    package let text: String
    package let until: Instant

    /// Creates an intent to erase these versions of a customer's streams.
    package init(
        _ lives: [ErasedLife], _ treatment: PurchaseTreatment, until: Instant,
        digest: ([UInt8]) -> [UInt8]
    ) {
        let names = lives.map { life in
            "\(life.stream.project)\u{0}\(life.stream.environment.rawValue)\u{0}"
                + "\(life.stream.customer)\u{0}\(life.state.version)\u{0}"
        }
        let content = names.joined() + "\(treatment.rawValue)\u{0}\(until.milliseconds)"
        let seal = digest(Array(content.utf8)).hexDigits.prefix(32)
        text = "\(ErasureIntent.prefix)\(until.milliseconds)_\(seal)"
        self.until = until
    }

    /// Throws unless this text is an intent that was recently issued for these streams and this
    /// treatment.
    static func require(
        _ text: String, for lives: [ErasedLife], _ treatment: PurchaseTreatment, now: Instant,
        digest: ([UInt8]) -> [UInt8]
    ) throws(Refusal) {
        let parts = text.dropFirst(prefix.count).split(separator: "_")
        guard text.hasPrefix(prefix), parts.count == 2, let end = Int64(parts[0]),
            now.milliseconds < end, end <= now.milliseconds + lifetime + apart,
            ErasureIntent(
                lives, treatment, until: Instant(milliseconds: end), digest: digest
            ).text == text
        else { throw .erasure(.intentStale) }
    }
}

/// One of a customer's streams, with its state.
package struct ErasedLife: Sendable {
    package let stream: Stream
    package let state: CustomerState
    /// The marks of purchases that no customer may hold again because of an erasure that was lost in a restore. Set
    /// only when that erasure is repeated.
    package let lost: [PurchaseMark]?
    /// Purchases with these marks that are again waiting for a customer.
    package let waiting: [PurchaseID]

    package init(
        _ stream: Stream, _ state: CustomerState, lost: [PurchaseMark]? = nil,
        waiting: [PurchaseID] = []
    ) {
        self.stream = stream
        self.state = state
        self.waiting = waiting
        self.lost = lost.map { $0.filter { !state.forgotten.contains($0) } }
    }

    /// Whether there is any data to erase.
    package var isLeft: Bool {
        state.version > 0 && !state.isErased || !(lost ?? []).isEmpty
    }

    /// Returns marks of the purchases that no customer may hold again. They always include purchases that gave coins,
    /// were refunded or are blocked, even if the other purchases become free. Such a purchase would otherwise count
    /// again as a new one.
    fileprivate func forgotten(
        _ treatment: PurchaseTreatment, digest: ([UInt8]) -> [UInt8]
    ) -> [PurchaseMark] {
        // An erasure that is repeated after a restore marks only the purchases that the original
        // erasure marked. Purchases that moved to the customer after the backup belong to another
        // person.
        if let lost { return lost.sorted() }
        let names = state.purchases.filter { treatment == .forget || state.hasCounted($0) }
            .flatMap(\.everyID)
        return Set(names.map { PurchaseMark($0, in: stream, digest: digest) }).sorted()
    }

    /// The reserved customers, called keepers, that may have held these purchases until a customer claimed them.
    /// Their streams concern the same person.
    package var keepers: [CustomerID] {
        if !isLeft { return [] }
        // A keeper is named after the id that the purchase had on arrival.
        let arrived = state.purchases.filter { $0.arrival != nil }.flatMap(\.allIDs)
        return arrived.map { .unclaimed($0) } + waiting.map { .unclaimed($0) }
    }
}

extension [ErasedLife] {
    /// Throws if the customer was merged into another one, because the two can only be erased
    /// together.
    package func requireUnmerged(_ customer: CustomerID) throws(Refusal) {
        for life in self where life.stream.customer == customer {
            if let whole = life.state.mergedInto { throw .customerMerged(customer, into: whole) }
        }
    }

    /// Throws unless there is data to erase.
    package func requireLife() throws(Refusal) {
        if contains(where: \.isLeft) { return }
        guard let first else { return }
        let erasures = filter(\.state.isErased).compactMap(\.state.lastRecord?.at)
        if let last = erasures.max() {
            throw .erasure(.erasedAlready(first.stream.customer, at: last))
        }
        throw .customerUnknown(first.stream.customer)
    }
}

/// A request to erase all data about a person in a customer's streams.
package struct EraseCustomer: Sendable {
    package let reason: Reason
    package let ticket: Ticket?
    package let treatment: PurchaseTreatment
    /// The streams as read before the decision. The first one is the command's own stream.
    package let lives: [ErasedLife]
    /// The intent from an earlier preview; `nil` to erase the customer's current data.
    package let intent: String?
    /// Computes SHA-256.
    package let digest: @Sendable ([UInt8]) -> [UInt8]

    package init(
        _ lives: [ErasedLife], reason: Reason, ticket: Ticket?, treatment: PurchaseTreatment,
        intent: String?, digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.lives = lives
        self.reason = reason
        self.ticket = ticket
        self.treatment = treatment
        self.intent = intent
        self.digest = digest
    }

    /// Returns the events for all streams, which are written in one commit.
    package func decide(_ situation: borrowing Situation) throws(Refusal) -> Decision {
        var present: [ErasedLife] = []
        for life in lives {
            let isElsewhere = life.stream.environment != lives[0].stream.environment
            let customer = life.stream.customer
            let state =
                isElsewhere
                ? situation.customerElsewhere(customer) : situation.customer(customer)
            present.append(
                ErasedLife(life.stream, state, lost: life.lost, waiting: life.waiting))
        }
        try present.requireUnmerged(lives[0].stream.customer)
        try present.requireLife()
        if let intent {
            try ErasureIntent.require(
                intent, for: present, treatment, now: situation.now, digest: digest)
        }
        for (now, before) in zip(present, lives) where now.state.version != before.state.version {
            throw .customerChangedMeanwhile(now.stream.customer, found: now.state.version)
        }
        var decision = Decision(parts: [])
        for life in present where life.isLeft {
            let isElsewhere = life.stream.environment != lives[0].stream.environment
            func append(_ customer: CustomerID, _ event: CustomerErased) {
                var part = Decision.Part(customer: customer, events: [.customerErased(event)])
                part.isElsewhere = isElsewhere
                decision.parts.append(part)
            }
            for keeper in life.keepers {
                let kept =
                    isElsewhere
                    ? situation.customerElsewhere(keeper) : situation.customer(keeper)
                if ErasedLife(life.stream, kept).isLeft { append(keeper, event()) }
            }
            append(
                life.stream.customer,
                event(of: life, at: situation.now, by: situation.project.catalog))
        }
        return decision
    }

    private func event() -> CustomerErased {
        CustomerErased(reason: reason, ticket: ticket, treatment: treatment)
    }

    private func event(
        of life: ErasedLife, at now: Instant, by catalog: Catalog
    ) -> CustomerErased {
        let told = life.state.entitlements(at: now, catalog: catalog).all
        return CustomerErased(
            reason: reason, ticket: ticket, treatment: treatment,
            forgotten: life.forgotten(treatment, digest: digest),
            ended: told.filter(\.isActive).map(\.id),
            dropped: told.filter { !$0.isActive }.map(\.id))
    }
}

extension CustomerState {
    fileprivate func hasCounted(_ purchase: Purchase) -> Bool {
        balances.hasCredits(of: purchase.id) || purchase.block != nil
            || purchase.evidence.contains { $0.effective.revocation != nil }
    }
}

extension Command {
    /// Returns the same command, which is refused if its customer was erased after that instant.
    package func unlessErased(since instant: Instant) -> Command {
        var command = self
        command.decide = { [decide, customer = stream.customer] situation throws(Refusal) in
            if let erasedOn = situation.customer(customer).erasedOn, erasedOn >= instant {
                throw .erasure(.doneBeforeErasure)
            }
            return try decide(situation)
        }
        return command
    }
}
