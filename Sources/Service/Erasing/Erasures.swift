package import Core

/// Which customer to erase, and how.
package struct ErasureRequest: Sendable {
    package let project: ProjectID
    package let customer: CustomerID
    /// Both environments, unless the sender names one.
    package let environments: [Environment]
    package let reason: AdminReason
    package let treatment: PurchaseTreatment
    /// The intent from a preview, which the customer's data must still match; `nil` to erase the
    /// customer's current data.
    package let intent: String?
    /// The purchases that this erasure marked as forgotten before a restore lost it.
    package let lost: [PurchaseMark]?
    /// The purchases with these marks that are waiting for a customer again.
    package var waiting: [PurchaseID] = []

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

/// A preview of the data that an erasure would remove. Nothing has been erased yet.
package struct ErasureLook: Sendable {
    package struct Side: Sendable {
        package let stream: Stream
        package let version: Int64
        package let kept: KeptCounts
        /// The entitlements to which access would end.
        package let ending: [EntitlementID]
        /// Subscriptions that the store will keep charging for.
        package let renewing: [PurchaseID]
        /// Previous holders of purchases, whose streams may be about the same person.
        package let cameFrom: [CustomerID]
    }
    package let customer: CustomerID
    package let sides: [Side]
    package let intent: ErasureIntent
    package let position: Position
}

/// The result of an erasure.
package struct ErasureAnswer: Sendable {
    package let customer: CustomerID
    /// The erasure in each environment.
    package let erasures: [RecordedEvent]
    /// Whether all data has been removed. If not, a running service will finish the work.
    package let isEmptied: Bool
    package let position: Position
}

/// The information that remains about an erased customer.
package struct ErasedAnswer: Sendable {
    package struct Side: Sendable {
        package let stream: Stream
        package let erasures: [RecordedEvent]
        /// The remaining data from before the last erasure.
        package let left: KeptCounts
        /// Whether anything has been recorded since the erasure.
        package let livesAgain: Bool
    }
    package let customer: CustomerID
    package let sides: [Side]
}

/// Erases customers' data.
package struct Erasures: Sendable {
    let ledger: any EventLog
    let log: any ErasureLog
    let secrets: Secrets
    let now: @Sendable () -> Instant

    /// Returns the data that the erasure would remove, and the intent for that erasure.
    package func look(_ request: ErasureRequest) throws(CommandError) -> ErasureLook {
        let (lives, catalog, position) = try lives(of: request)
        try rethrowing(as: CommandError.refused, lives.requireUnmerged(request.customer))
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
                    renewing: subscriptions.filter { $0.isActive && $0.willRenew }.map(\.purchase),
                    cameFrom: life.state.cameFrom))
        }
        let intent = ErasureIntent(
            lives, request.treatment, until: now.advanced(byMilliseconds: ErasureIntent.lifetime),
            digest: secrets.digest)
        return ErasureLook(
            customer: request.customer, sides: sides, intent: intent, position: position)
    }

    /// Returns a request to erase the customer in one commit, and to remove all of the customer's data afterwards.
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
            let lives = try lives(of: request, under: cause).lives
            return Wish<Position>(command(request, lives, actor, cause)) { $0.position }
                .thenLooking { position throws(CommandError) in
                    try answer(request, emptying: lives, position)
                }
        }.then { result in
            guard attempts > 1,
                case .failure(.refused(.customerChangedMeanwhile)) = result
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
        var command = Command(
            stream: lives[0].stream, actor: actor, cause: cause, concernsMerged: true
        ) { situation throws(Refusal) in try wish.decide(situation) }
        command.customers = lives[0].keepers
        for life in lives.dropFirst() {
            let concerned = [life.stream.customer] + life.keepers
            if life.stream.environment == lives[0].stream.environment {
                command.customers += concerned
            } else {
                command.customersElsewhere += concerned
            }
        }
        return command
    }

    /// Returns the current states of the customer's streams. The stream in which this cause has already erased the
    /// customer comes first, because a repeated call finds its events only there. Otherwise a stream with data to erase
    /// does.
    private func lives(
        of request: ErasureRequest, under cause: Cause? = nil
    ) throws(CommandError) -> (lives: [ErasedLife], catalog: Catalog, position: Position) {
        var lives: [ErasedLife] = []
        var positions: [Position] = []
        var catalog = Catalog()
        for stream in request.streams {
            let snapshot = try obtain(ledger.customer(of: stream))
            lives.append(
                ErasedLife(
                    stream, snapshot.customer, lost: request.lost, waiting: request.waiting))
            positions.append(snapshot.position)
            catalog = snapshot.project.catalog
        }
        var earlier: Stream?
        if let cause {
            let erasures = try obtain(all(in: request.project, of: request.customer))
            earlier = erasures.last { $0.cause == cause.text }?.stream
        }
        let first: Int =
            lives.firstIndex { $0.stream == earlier } ?? lives.firstIndex(where: \.isLeft) ?? 0
        lives.swapAt(0, first)
        return (lives + (try parts(of: lives)), catalog, positions[first])
    }

    /// Returns the streams of customers who were merged into this one and are therefore the same
    /// person.
    private func parts(of lives: [ErasedLife]) throws(CommandError) -> [ErasedLife] {
        var parts: [ErasedLife] = []
        for life in lives {
            for one in life.state.joined.flatMap(\.all) {
                let stream = Stream(
                    project: life.stream.project, environment: life.stream.environment,
                    customer: one)
                let state = try obtain(ledger.customer(of: stream)).customer
                // A customer who has been erased or unmerged in the meantime is a separate person
                // again.
                if state.mergedInto == life.stream.customer {
                    parts.append(ErasedLife(stream, state))
                }
            }
        }
        return parts
    }

    /// Removes the data that can be removed now, and returns the answer.
    private func answer(
        _ request: ErasureRequest, emptying lives: [ErasedLife], _ position: Position
    ) throws(CommandError) -> ErasureAnswer {
        var last: [Environment: RecordedEvent] = [:]
        for recorded in try obtain(all(in: request.project, of: request.customer)) {
            last[recorded.stream.environment] = recorded
        }
        let erasures = request.environments.compactMap { last[$0] }
        var isEmptied = true
        let parts = lives.map(\.stream).filter { $0.customer != request.customer }
        for stream in erasures.map(\.stream) + parts + lives.flatMap(\.keeperStreams) {
            do throws(Fault) { try log.empty(stream) } catch { isEmptied = false }
        }
        // A repeated call cannot tell which merged streams were erased, so it counts the data as
        // removed only if no data is left anywhere.
        if !lives.contains(where: \.isLeft), isEmptied {
            isEmptied = (try? log.unemptied(limit: 1).isEmpty) ?? false
        }
        return ErasureAnswer(
            customer: request.customer, erasures: erasures, isEmptied: isEmptied, position: position
        )
    }

    /// Removes data that interrupted erasures have left. Returns whether none remains.
    package func emptyRest() throws(Fault) -> Bool {
        while true {
            let streams = try log.unemptied(limit: 100)
            if streams.isEmpty { return true }
            let emptied = streams.count { stream in
                do throws(Fault) { try log.empty(stream) } catch { return false }
                return true
            }
            if emptied == 0 { return false }
        }
    }

    /// Returns the customer's stream and state, if all of its events in the log were recorded after that instant.
    package func life(
        of request: ErasureRequest, after instant: Instant
    ) throws(CommandError) -> ErasedLife? {
        for life in try lives(of: request).lives where life.stream.customer == request.customer {
            if life.state.version == 0 || life.state.isErased { continue }
            let before = life.state.erasedAt ?? 0
            let first = try obtain(ledger.events(of: life.stream, after: before, limit: 1)).first
            if let first, first.recorded.recordedAt > instant { return life }
        }
        return nil
    }

    package func mark(of purchase: PurchaseID, in stream: Stream) -> PurchaseMark {
        PurchaseMark(purchase, in: stream, digest: secrets.digest)
    }

    /// Returns all erasures in a project or of one customer, oldest first.
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

    /// Returns when, why and by whom the customer was erased, and which data remains.
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
            // What is left are rows with data that was recorded after the erasure.
            if !state.isErased { left = left.ofEvents }
            sides.append(
                ErasedAnswer.Side(
                    stream: stream, erasures: own, left: left, livesAgain: !state.isErased))
        }
        if sides.isEmpty { throw .refused(.erasure(.neverErased(customer))) }
        return ErasedAnswer(customer: customer, sides: sides)
    }
}

extension ErasedLife {
    var keeperStreams: [Stream] {
        keepers.map {
            Stream(project: stream.project, environment: stream.environment, customer: $0)
        }
    }
}

extension CustomerState {
    fileprivate var cameFrom: [CustomerID] {
        Set(purchases.compactMap { $0.arrival?.from }.filter { !$0.isReserved }).sorted()
    }
}

extension KeptCounts {
    fileprivate var ofEvents: KeptCounts {
        KeptCounts(all.filter { ["events", "evidence"].contains($0.kind) })
    }
}
