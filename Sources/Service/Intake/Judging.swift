package import Core

/// The verdict on a piece of evidence; what cannot be judged yet waits in the queue.
typealias JudgedPiece = Judgement<ProvenEvidence, IntakeID>

extension Submissions {
    /// Judges each piece of evidence by itself, and queues what cannot be judged yet.
    func judge(
        _ request: SubmissionRequest, of stream: Stream
    ) throws(CommandError) -> [JudgedPiece] {
        let purpose: IntakeWish.Purpose =
            request.isRestore ? .restore(stream.customer) : .submit(stream.customer)
        var judged: [Int: JudgedPiece] = [:]
        for (index, piece) in request.pieces.enumerated() where piece.kind.namesApp {
            switch try judge(piece, of: stream.project) {
            case .believed(let proven): judged[index] = .believed(proven)
            case .refused(let refused): judged[index] = .refused(refused)
            case .undecided(let heading):
                judged[index] = try queue(
                    piece, heading, purpose, request.order, of: stream.project)
            }
        }
        let beside = judged.values.compactMap(\.belief)
        for (index, piece) in request.pieces.enumerated() where !piece.kind.namesApp {
            judged[index] = judge(renewal: piece, beside: beside, of: stream.project)
        }
        return request.pieces.indices.compactMap { judged[$0] }
    }

    /// Judges renewal info. It names no app, so it goes with a transaction of the same subscription
    /// that came with it, and counts for that transaction's app.
    private func judge(
        renewal piece: RawEvidence, beside proven: [ProvenEvidence], of project: ProjectID
    ) -> JudgedPiece {
        for app in Set(proven.map(\.app)) {
            var piece = piece
            piece.companion = app
            do throws(RefusedEvidence) {
                let renewal = try prove(piece, of: project)
                let originals = renewal.facts.renewals.map(\.original)
                let isBeside = proven.contains { one in
                    one.app == app && one.environment == renewal.environment
                        && one.facts.transactions.contains { originals.contains($0.original) }
                }
                if isBeside { return .believed(renewal) }
            } catch {
                return .refused(error)
            }
        }
        return .refused(.withoutTransaction)
    }

    /// What can be said about it now; its heading allows it to be queued.
    private func judge(
        _ piece: RawEvidence, of project: ProjectID
    ) throws(CommandError) -> Judgement<ProvenEvidence, EvidenceHeading> {
        guard let (app, heading) = try forStore(piece, of: project) else {
            return try prove(own: piece, of: project)
        }
        let isKnown = try obtain(intake.archive.hasBelieved(heading.digest))
        if !isKnown { return .undecided(heading) }
        do throws(RefusedEvidence) {
            return .believed(try intake.read(vouchedFor: piece, for: app.trusted))
        } catch {
            return .refused(error)
        }
    }

    /// The app, if only the store judges such evidence for it.
    private func forStore(
        _ piece: RawEvidence, of project: ProjectID
    ) throws(CommandError) -> (ListedApp, EvidenceHeading)? {
        guard piece.kind.isForStore(.store), let heading = try? intake.heading(of: piece),
            let app = try obtain(apps.find(piece.key(of: heading.app))), app.project == project,
            piece.kind.isForStore(app.receipts)
        else { return nil }
        return (app, heading)
    }

    /// What can be said about it without asking the store.
    private func prove(
        own piece: RawEvidence, of project: ProjectID, isSecond: Bool = false
    ) throws(CommandError) -> Judgement<ProvenEvidence, EvidenceHeading> {
        do throws(RefusedEvidence) {
            return .believed(try prove(piece, of: project))
        } catch {
            let mayCount = error.cure == .time || !isSecond && error.cure == .settingTheApp
            guard mayCount, let heading = try ownHeading(of: piece, in: project) else {
                return .refused(error)
            }
            if error.cure == .time { return .undecided(heading) }
        }
        // Another instance may have set or changed the app a moment ago.
        try obtain(apps.refresh())
        return try prove(own: piece, of: project, isSecond: true)
    }

    /// What the evidence says about itself, if it names an app of the project; looks in the database
    /// if necessary.
    private func ownHeading(
        of piece: RawEvidence, in project: ProjectID
    ) throws(CommandError) -> EvidenceHeading? {
        guard let heading = try? intake.heading(of: piece) else { return nil }
        let app = try obtain(apps.find(piece.key(of: heading.app)))
        return app?.project == project ? heading : nil
    }

    /// Queues it for later. If the queue is full it is refused, and may be sent again.
    private func queue(
        _ piece: RawEvidence, _ heading: EvidenceHeading, _ purpose: IntakeWish.Purpose,
        _ order: OrderID?, of project: ProjectID
    ) throws(CommandError) -> JudgedPiece {
        do throws(CommandError) {
            return .undecided(
                try intake.hold(piece, purpose, order: order, heading: heading, of: project).id)
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            return .refused(
                RefusedEvidence(code: refusal.code, sentence: refusal.sentence, cure: .time))
        }
    }
}

extension Submissions {
    /// A request to record queued evidence that is now believed, under the same cause at every
    /// attempt.
    package func recording(
        _ item: IntakeItem, _ proven: [ProvenEvidence], _ cause: Cause
    ) -> Wish<[IntakeResult]> {
        recording(item, proven, cause, order: item.wish.order).then { result in
            // Genuine evidence is recorded even if it names an order that does not exist.
            guard case .failure(.refused(.orderUnknown)) = result else { return .answered(result) }
            return recording(item, proven, cause, order: nil)
        }
    }

    private func recording(
        _ item: IntakeItem, _ proven: [ProvenEvidence], _ cause: Cause, order: OrderID?
    ) -> Wish<[IntakeResult]> {
        let pieces = proven.enumerated().map { Submission.Item(index: $0, facts: $1.facts) }
        let submission = Submission(pieces, by: item.wish.purpose.bearer, order: order)
        let environment = proven.first?.environment ?? item.wish.heading.environment
        let stream = submission.stream(in: item.wish.project, environment)
        let command = Command(
            submission, in: stream, on: proven.map(\.record), by: .intake, cause: cause
        ).unlessErased(since: item.addedAt)
        return Wish(command) { outcome in
            notice(outcome, in: item.wish.project)
            return submission.outcomes(of: outcome).map(IntakeResult.init)
        }
    }
}

extension Submission {
    /// The stream that carries out its cause: the customer's, or that of the keeper of unclaimed purchases.
    func stream(in project: ProjectID, _ environment: Environment) -> Stream {
        Stream(
            project: project, environment: environment,
            customer: bearer.customer ?? keepers.first ?? .noCustomer)
    }

    /// The result of each piece of evidence. A repetition has no items of its own: they follow from
    /// what the first copy did.
    func outcomes(of outcome: Outcome) -> [ItemOutcome] {
        var items = outcome.items
        if items.isEmpty, let state = outcome.state.customer {
            items = outcomes(repeating: outcome.events.map(\.event), in: state)
        }
        return noting(items, by: outcome.project.catalog)
    }
}

extension IntakeWish.Purpose {
    fileprivate var bearer: Submission.Bearer {
        switch self {
        case .submit(let customer): .customer(customer)
        case .restore(let customer): .restorer(customer)
        case .notification: .store
        }
    }
}

extension IntakeResult {
    init(_ outcome: ItemOutcome) {
        var order: OrderID?
        var reason: IntakeReason?
        switch outcome.result {
        case .refused(let refusal):
            reason = IntakeReason(code: refusal.code, sentence: refusal.sentence)
        case .alreadySettled(let settled): order = settled
        case .recorded, .alreadyKnown: break
        }
        self.init(
            purchase: outcome.purchase?.description, transaction: outcome.transaction?.text,
            outcome: outcome.result.word, order: order?.text, reason: reason,
            unknownProduct: outcome.unknownProduct?.id.text)
    }
}

extension RefusedEvidence {
    fileprivate static let withoutTransaction = RefusedEvidence(
        code: "renewal_without_transaction",
        sentence:
            "No transaction of the same subscription came with this renewal info, which names no "
            + "app itself; send both in one call.")
}
