package import Core

/// Whom to erase, and how.
package struct ErasureRequest: Sendable {
    package let project: ProjectID
    package let customer: CustomerID
    /// Both, unless one is named.
    package let environments: [Environment]
    package let reason: AdminReason
    package let treatment: PurchaseTreatment
    /// What a look gave; without one, the customer is erased as it is now.
    package let intent: String?
    /// What the same erasure forgot before a restore lost it.
    package let lost: [PurchaseMark]?

    package init(
        _ customer: CustomerID, in project: ProjectID, _ environment: Environment?,
        reason: AdminReason, treatment: PurchaseTreatment, intent: String?,
        lost: [PurchaseMark]? = nil
    ) {
        self.project = project
        self.customer = customer
        environments = environment.map { [$0] } ?? [.production, .sandbox]
        self.reason = reason
        self.treatment = treatment
        self.intent = intent
        self.lost = lost
    }

    fileprivate var streams: [Stream] {
        environments.map { Stream(project: project, environment: $0, customer: customer) }
    }
}

/// What an erasure would take away; nothing is done yet.
package struct ErasureLook: Sendable {
    package struct Side: Sendable {
        package let stream: Stream
        package let version: Int64
        package let kept: KeptCounts
        /// The rights that would end.
        package let ending: [EntitlementID]
        /// Subscriptions that the store goes on charging for.
        package let renewing: [PurchaseID]
    }
    package let customer: CustomerID
    package let sides: [Side]
    package let intent: ErasureIntent
    package let position: Position
}

/// What was erased.
package struct ErasureAnswer: Sendable {
    package let customer: CustomerID
    /// The erasure in each environment.
    package let erasures: [RecordedEvent]
    /// Whether everything is emptied; if not, any service that runs does the rest.
    package let isEmptied: Bool
    package let position: Position
}

/// What is known of a customer who was erased.
package struct ErasedAnswer: Sendable {
    package struct Side: Sendable {
        package let stream: Stream
        package let erasures: [RecordedEvent]
        /// What is left of the time before the last one.
        package let left: KeptCounts
        /// Whether something happened since.
        package let livesAgain: Bool
    }
    package let customer: CustomerID
    package let sides: [Side]
}

/// How a person is forgotten.
package struct Erasures: Sendable {
    let ledger: any EventLog
    let log: any ErasureLog
    let secrets: Secrets
    let now: @Sendable () -> Instant

    /// What the erasure would take away, and the intent for it.
    package func look(_ request: ErasureRequest) throws(CommandError) -> ErasureLook {
        let (lives, catalog, position) = try lives(of: request)
        try rethrowing(as: CommandError.refused, lives.requireLife())
        var sides: [ErasureLook.Side] = []
        let now = now()
        for life in lives where life.isLeft {
            let told = life.state.entitlements(at: now, catalog: catalog).all
            let subscriptions = life.state.subscriptions(at: now, catalog: catalog)
            sides.append(
                ErasureLook.Side(
                    stream: life.stream, version: life.state.version,
                    kept: try obtain(log.kept(of: life.stream, before: nil)),
                    ending: told.filter(\.isActive).map(\.id),
                    renewing: subscriptions.filter { $0.isActive && $0.willRenew }.map(\.purchase)))
        }
        let intent = ErasureIntent(
            lives, until: now.advanced(byMilliseconds: ErasureIntent.lifetime),
            digest: secrets.digest)
        return ErasureLook(
            customer: request.customer, sides: sides, intent: intent, position: position)
    }

    /// The wish that the customer is erased: in one commit, and then emptied.
    package func erasing(_ request: ErasureRequest, by sender: Sender) -> Wish<ErasureAnswer> {
        let cause = secrets.cause(
            of: sender, "erase",
            [
                request.treatment.rawValue, request.reason.reason.text, request.reason.ticket?.text,
                request.environments.map(\.rawValue).joined(separator: ","), request.intent,
            ])
        return erasing(request, sender.actor, cause, attempts: 3)
    }

    private func erasing(
        _ request: ErasureRequest, _ actor: Actor, _ cause: Cause, attempts: Int
    ) -> Wish<ErasureAnswer> {
        Wish<ErasureAnswer>.look { () throws(CommandError) in
            let lives = try lives(of: request).lives
            return Wish<Position>(command(request, lives, actor, cause)) { $0.position }
                .thenLooking { position throws(CommandError) in
                    try answer(request, emptying: lives, position)
                }
        }.then { result in
            guard attempts > 1,
                case .failure(.refused(.customerChangedMeanwhile(request.customer, _))) = result
            else { return .answered(result) }
            return erasing(request, actor, cause, attempts: attempts - 1)
        }
    }

    private func command(
        _ request: ErasureRequest, _ lives: [ErasedLife], _ actor: Actor, _ cause: Cause
    ) -> Command {
        let wish = EraseCustomer(
            lives, reason: request.reason.reason, ticket: request.reason.ticket,
            treatment: request.treatment, intent: request.intent, digest: secrets.digest)
        var command = Command(stream: lives[0].stream, actor: actor, cause: cause) {
            situation throws(Refusal) in
            try wish.decide(situation)
        }
        command.customers = lives[0].keepers
        command.customersElsewhere = lives.dropFirst().flatMap { [$0.stream.customer] + $0.keepers }
        return command
    }

    /// The customer's streams as they are now; first of all one with something to erase, if there is one.
    private func lives(
        of request: ErasureRequest
    ) throws(CommandError) -> (lives: [ErasedLife], catalog: Catalog, position: Position) {
        var lives: [ErasedLife] = []
        var positions: [Position] = []
        var catalog = Catalog()
        for stream in request.streams {
            let snapshot = try obtain(ledger.customer(of: stream))
            lives.append(ErasedLife(stream, snapshot.customer, lost: request.lost))
            positions.append(snapshot.position)
            catalog = snapshot.project.catalog
        }
        // A repeated call finds itself again in the stream that was erased last.
        let last = lives.indices.max {
            let (one, other) = (lives[$0].state, lives[$1].state)
            return (one.lastRecord?.at ?? .distantPast) < (other.lastRecord?.at ?? .distantPast)
        }
        let first: Int = lives.firstIndex(where: \.isLeft) ?? last ?? 0
        lives.swapAt(0, first)
        return (lives, catalog, positions[first])
    }

    /// Empties what can be emptied at once.
    private func answer(
        _ request: ErasureRequest, emptying lives: [ErasedLife], _ position: Position
    ) throws(CommandError) -> ErasureAnswer {
        var last: [Environment: RecordedEvent] = [:]
        for recorded in try obtain(all(in: request.project, of: request.customer)) {
            last[recorded.stream.environment] = recorded
        }
        let erasures = request.environments.compactMap { last[$0] }
        var isEmptied = true
        for stream in erasures.map(\.stream) + lives.flatMap(\.keeperStreams) {
            do throws(Fault) { try log.empty(stream) } catch { isEmptied = false }
        }
        return ErasureAnswer(
            customer: request.customer, erasures: erasures, isEmptied: isEmptied, position: position
        )
    }

    /// Every erasure of a project, or of one customer, oldest first.
    package func all(
        in project: ProjectID, of customer: CustomerID? = nil
    ) throws(Fault) -> [RecordedEvent] {
        var erasures: [RecordedEvent] = []
        while true {
            let page = try log.erasures(
                in: project, of: customer, after: erasures.last, limit: 1000)
            erasures += page
            if page.count < 1000 { return erasures }
        }
    }

    /// When the customer was erased, by whom and why, and what is left.
    package func erased(
        _ customer: CustomerID, in project: ProjectID
    ) throws(CommandError) -> ErasedAnswer {
        let erasures = try obtain(all(in: project, of: customer))
        var sides: [ErasedAnswer.Side] = []
        for (stream, own) in Dictionary(grouping: erasures, by: \.stream)
            .sorted(by: { $0.key.environment.rawValue < $1.key.environment.rawValue })
        {
            guard let last = own.last else { continue }
            let state = try obtain(ledger.customer(of: stream)).customer
            var left = try obtain(log.kept(of: stream, before: last.version))
            // The rows of a new life are that life's.
            if !state.isErased { left = left.ofEvents }
            sides.append(
                ErasedAnswer.Side(
                    stream: stream, erasures: own, left: left, livesAgain: !state.isErased))
        }
        if sides.isEmpty { throw .refused(.neverErased(customer)) }
        return ErasedAnswer(customer: customer, sides: sides)
    }
}

extension ErasedLife {
    fileprivate var keeperStreams: [Stream] {
        keepers.map {
            Stream(project: stream.project, environment: stream.environment, customer: $0)
        }
    }
}

extension KeptCounts {
    fileprivate var ofEvents: KeptCounts {
        KeptCounts(all.filter { ["events", "evidence"].contains($0.kind) })
    }
}
