/// What a look at an erasure gives: with it, only what was looked at is erased.
package struct ErasureIntent: Hashable, Sendable {
    /// How long it is good, in milliseconds.
    package static let lifetime: Int64 = 15 * 60_000
    /// By how much the clock that gave it may be ahead of the one that takes it.
    private static let apart: Int64 = 60_000
    private static let prefix = "er_"

    package let text: String
    package let until: Instant

    /// For these customers' streams at these versions.
    package init(
        _ lives: [ErasedLife], until: Instant, digest: ([UInt8]) -> [UInt8]
    ) {
        let names = lives.map { life in
            "\(life.stream.project)\u{0}\(life.stream.environment.rawValue)\u{0}"
                + "\(life.stream.customer)\u{0}\(life.state.version)\u{0}"
        }
        let content = names.joined() + "\(until.milliseconds)"
        let seal = digest(Array(content.utf8)).hexDigits.prefix(32)
        text = "\(ErasureIntent.prefix)\(until.milliseconds)_\(seal)"
        self.until = until
    }

    /// Throws unless a look at these lives gave that text, and not too long ago.
    static func require(
        _ text: String, for lives: [ErasedLife], now: Instant, digest: ([UInt8]) -> [UInt8]
    ) throws(Refusal) {
        let parts = text.dropFirst(prefix.count).split(separator: "_")
        guard text.hasPrefix(prefix), parts.count == 2, let end = Int64(parts[0]),
            now.milliseconds < end, end <= now.milliseconds + lifetime + apart,
            ErasureIntent(lives, until: Instant(milliseconds: end), digest: digest).text == text
        else { throw .intentStale }
    }
}

/// One of a customer's streams, and its state.
package struct ErasedLife: Sendable {
    package let stream: Stream
    package let state: CustomerState
    /// What an erasure that the log has lost forgot here, if that is repeated.
    package let lost: [PurchaseMark]?

    package init(_ stream: Stream, _ state: CustomerState, lost: [PurchaseMark]? = nil) {
        self.stream = stream
        self.state = state
        self.lost = lost.map { $0.filter { !state.forgotten.contains($0) } }
    }

    /// Whether there is anything to erase.
    package var isLeft: Bool {
        state.version > 0 && !state.isErased || !(lost ?? []).isEmpty
    }

    /// The purchases that never have a holder again. A purchase that gave coins, was refunded or is blocked is
    /// among them also when the others are free: as a new one it would count once more.
    fileprivate func forgotten(
        _ treatment: PurchaseTreatment, digest: ([UInt8]) -> [UInt8]
    ) -> [PurchaseMark] {
        // What the customer had when it was erased is listed, and what moved on since the backup is another's.
        if let lost { return lost.sorted() }
        return state.purchases.filter { treatment == .forget || state.hasCounted($0) }
            .map { PurchaseMark($0.id, in: stream, digest: digest) }.sorted()
    }

    /// The purchases that may have waited for a customer: their keepers' streams tell of the person, too.
    package var keepers: [CustomerID] {
        isLeft ? state.purchases.filter { $0.arrival != nil }.map { .unclaimed($0.id) } : []
    }
}

extension [ErasedLife] {
    /// Throws unless there is anything to erase.
    package func requireLife() throws(Refusal) {
        if contains(where: \.isLeft) { return }
        guard let first else { return }
        let erasures = filter(\.state.isErased).compactMap(\.state.lastRecord?.at)
        if let last = erasures.max() { throw .alreadyErased(first.stream.customer, at: last) }
        throw .customerUnknown(first.stream.customer)
    }
}

/// The wish that all is forgotten that a customer's streams say about a person.
package struct EraseCustomer: Sendable {
    package let reason: Reason
    package let ticket: Ticket?
    package let treatment: PurchaseTreatment
    /// As they were looked at; the first one's stream is the command's own.
    package let lives: [ErasedLife]
    /// What an earlier look gave; without one, the customer is erased as it is now.
    package let intent: String?
    /// SHA-256.
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

    /// The events of all streams, for one commit.
    package func decide(_ situation: borrowing Situation) throws(Refusal) -> Decision {
        var present: [ErasedLife] = []
        for life in lives {
            let isElsewhere = life.stream.environment != lives[0].stream.environment
            let customer = life.stream.customer
            let state =
                isElsewhere
                ? situation.customerElsewhere(customer) : situation.customer(customer)
            present.append(ErasedLife(life.stream, state, lost: life.lost))
        }
        try present.requireLife()
        if let intent {
            try ErasureIntent.require(intent, for: present, now: situation.now, digest: digest)
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
    /// The same command, refused where its customer was erased since that instant.
    package func unlessErased(since instant: Instant) -> Command {
        var command = self
        command.decide = { [decide, customer = stream.customer] situation throws(Refusal) in
            if let erasedOn = situation.customer(customer).erasedOn, erasedOn >= instant {
                throw .doneBeforeErasure
            }
            return try decide(situation)
        }
        return command
    }
}
