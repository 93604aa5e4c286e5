package import Core
import Wording

/// The verdict on a piece of evidence, with the statements that were verified. Evidence that cannot
/// be judged yet waits in the queue.
typealias JudgedPiece = Judgement<[ProvenEvidence], IntakeID>

/// The verdicts on the pieces of a submission, before any store has been asked.
struct JudgedPieces: Sendable {
    /// The verdicts, by the index of the piece in the submission.
    var judged: [Int: JudgedPiece] = [:]
    var questions: [OpenQuestion] = []

    /// The verdicts in the order of the submission.
    var inOrder: [JudgedPiece] { judged.sorted { $0.key < $1.key }.map(\.value) }
}

/// A piece of evidence about which a store is asked while its sender waits.
struct OpenQuestion: Sendable {
    let index: Int
    let heading: EvidenceHeading
    let inquiry: StoreInquiry
}

extension Submissions {
    /// Judges each piece of evidence separately, and queues the pieces that cannot be judged yet.
    func judge(
        _ request: SubmissionRequest, of stream: Stream
    ) throws(CommandError) -> JudgedPieces {
        var pieces = JudgedPieces()
        for (index, piece) in request.pieces.enumerated() where piece.kind.namesApp {
            if piece.kind.proof == .word {
                try pieces.add(question(about: piece, of: stream.project), at: index)
                continue
            }
            switch try judge(piece, of: stream.project) {
            case .believed(let proven):
                pieces.judged[index] =
                    request.refusal(of: proven.environment).map { .refused($0) }
                    ?? .believed([proven])
            case .refused(let refused): pieces.judged[index] = .refused(refused)
            case .undecided(let heading):
                if let refused = request.refusal(of: heading.environment) {
                    pieces.judged[index] = .refused(refused)
                } else {
                    pieces.judged[index] = try queue(
                        piece, heading, request, of: stream)
                }
            }
        }
        let beside = pieces.judged.values.compactMap(\.belief).flatMap(\.self)
        for (index, piece) in request.pieces.enumerated() where !piece.kind.namesApp {
            pieces.judged[index] = judge(renewal: piece, beside: beside, of: stream.project)
        }
        return pieces
    }

    /// Returns what to ask a store about evidence that names its purchase but proves nothing.
    private func question(
        about piece: RawEvidence, of project: ProjectID
    ) throws(CommandError) -> Judgement<Never, (EvidenceHeading, StoreInquiry)> {
        let heading: EvidenceHeading
        do throws(RefusedEvidence) {
            heading = try intake.heading(of: piece)
        } catch {
            return .refused(error)
        }
        let key = piece.key(of: heading.app)
        let state = try intake.ledger.existing(project)
        guard let app = state.app(key) else {
            return .refused(intake.foreign(heading.app, of: piece.kind.store))
        }
        return .undecided(
            (
                heading,
                StoreInquiry(
                    evidence: piece, project: project, app: app, environment: heading.environment,
                    tries: 0, formerReason: nil, now: intake.evidenceClock,
                    catalog: state.catalog)
            ))
    }

    /// Applies a store's verdict to the submission. If the store could not judge the evidence in time, the evidence is
    /// queued.
    func judge(
        _ verdict: StoreVerdict, on question: OpenQuestion, _ request: SubmissionRequest,
        of stream: Stream
    ) throws(CommandError) -> JudgedPiece {
        switch verdict {
        case .believed(let proven):
            let refused = proven.lazy.compactMap { request.refusal(of: $0.environment) }.first
            return refused.map { .refused($0) } ?? .believed(proven)
        case .refused(let refused): return .refused(refused)
        case .undecided(let wait):
            // With a key that is bound to one environment, the evidence is refused: only the
            // store's answer shows the environment, and the queue cannot check keys' environments.
            if request.environment != nil {
                return .refused(
                    RefusedEvidence(
                        code: wait.reason.code, sentence: wait.reason.sentence, cure: .time))
            }
            return try queue(
                question.inquiry.evidence, question.heading, request, of: stream, until: wait)
        }
    }

    /// Judges renewal info. Renewal info names no app, so it needs a transaction of the same
    /// subscription from the same call. The renewal info belongs to that transaction's app.
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
                if isBeside { return .believed([renewal]) }
            } catch {
                return .refused(error)
            }
        }
        return .refused(.withoutTransaction)
    }

    /// Returns the verdict on the evidence if no store has to be asked, and otherwise the heading under which to queue
    /// it.
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

    /// Returns the app if this evidence is of the kind that only the app's store can judge.
    private func forStore(
        _ piece: RawEvidence, of project: ProjectID
    ) throws(CommandError) -> (ListedApp, EvidenceHeading)? {
        guard piece.kind.isForStore(.store), let heading = try? intake.heading(of: piece),
            let app = try obtain(apps.find(piece.key(of: heading.app))), app.project == project,
            piece.kind.isForStore(app.receipts)
        else { return nil }
        return (app, heading)
    }

    /// Returns the verdict on the evidence without asking a store.
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
        // Another instance may have just set or changed the app.
        try obtain(apps.refresh())
        return try prove(own: piece, of: project, isSecond: true)
    }

    /// Returns the evidence's own heading, if it names one of the project's apps. Queries the database if necessary.
    private func ownHeading(
        of piece: RawEvidence, in project: ProjectID
    ) throws(CommandError) -> EvidenceHeading? {
        guard let heading = try? intake.heading(of: piece) else { return nil }
        let app = try obtain(apps.find(piece.key(of: heading.app)))
        return app?.project == project ? heading : nil
    }

    /// Queues the evidence for later. If the queue is full, refuses the evidence, which may be sent again.
    private func queue(
        _ piece: RawEvidence, _ heading: EvidenceHeading, _ request: SubmissionRequest,
        of stream: Stream, until wait: Postponement? = nil
    ) throws(CommandError) -> JudgedPiece {
        let purpose: IntakeWish.Purpose =
            request.isRestore ? .restore(stream.customer) : .submit(stream.customer)
        do throws(CommandError) {
            return .undecided(
                try intake.hold(
                    piece, purpose, order: request.order, heading: heading, of: stream.project,
                    until: wait
                ).id)
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            return .refused(
                RefusedEvidence(code: refusal.code, sentence: refusal.withRemedy, cure: .time))
        }
    }
}

extension JudgedPieces {
    fileprivate mutating func add(
        _ question: Judgement<Never, (EvidenceHeading, StoreInquiry)>, at index: Int
    ) {
        switch question {
        case .refused(let refused): judged[index] = .refused(refused)
        case .undecided((let heading, let inquiry)):
            questions.append(OpenQuestion(index: index, heading: heading, inquiry: inquiry))
        }
    }
}

extension Submissions {
    /// Returns a request to record queued evidence that has now been accepted. The cause is the same for every attempt.
    package func recording(
        _ item: IntakeItem, _ proven: [ProvenEvidence], _ cause: Cause
    ) -> Wish<[IntakeResult]> {
        recording(item, proven, cause, as: item.wish.purpose)
    }

    private func recording(
        _ item: IntakeItem, _ proven: [ProvenEvidence], _ cause: Cause,
        as purpose: IntakeWish.Purpose
    ) -> Wish<[IntakeResult]> {
        recording(item, proven, cause, as: purpose, order: item.wish.order).then { result in
            // Genuine evidence is recorded even if it names an order that does not exist.
            guard case .failure(.refused(.order(.unknown))) = result else {
                return .answered(result)
            }
            return recording(item, proven, cause, as: purpose, order: nil)
        }.then { result in
            // If the customer has been merged since the evidence was queued, the evidence belongs
            // to the customer into whom the first one was merged.
            guard case .failure(.refused(.customerMerged(_, let whole))) = result,
                let led = purpose.led(to: whole)
            else { return .answered(result) }
            return recording(item, proven, cause, as: led)
        }
    }

    private func recording(
        _ item: IntakeItem, _ proven: [ProvenEvidence], _ cause: Cause,
        as purpose: IntakeWish.Purpose, order: OrderID?
    ) -> Wish<[IntakeResult]> {
        let project = item.wish.project
        let newest = proven.last?.environment ?? item.wish.heading.environment
        // A store may use a newer purchase in one environment to prove an older purchase in the
        // other one.
        let environments = Environment.allCases.filter { environment in
            environment == newest || proven.contains { $0.environment == environment }
        }
        let submissions = environments.map { environment in
            let pieces = proven.enumerated().filter { $1.environment == environment }
            return Submission(
                pieces.map { Submission.Item(index: $0, facts: $1.facts) }, by: purpose.bearer,
                order: environment == newest ? order : nil)
        }
        let commands = zip(environments, submissions).map { environment, submission in
            Command(
                submission, in: submission.stream(in: project, environment),
                on: proven.filter { $0.environment == environment }.map(\.record), by: .intake,
                cause: cause
            ).unlessErased(since: item.addedAt)
        }
        return Wish(commands) { outcomes throws(CommandError) in
            // An erasure may cover only one environment. The evidence of the other one still counts.
            let counting = zip(submissions, outcomes).filter { !$1.isErased }
            if counting.isEmpty { throw .refused(.erasure(.doneBeforeErasure)) }
            var results: [IntakeResult] = []
            for (submission, outcome) in counting {
                let outcome = try outcome.get()
                notice(outcome, in: project)
                results += submission.outcomes(of: outcome).map(IntakeResult.init)
            }
            return results
        }
    }
}

extension CommandResult {
    /// Whether the customer was erased after the evidence was queued.
    fileprivate var isErased: Bool {
        if case .failure(.refused(.erasure(.doneBeforeErasure))) = self { true } else { false }
    }
}

extension Submission {
    /// Returns the stream in which the evidence is recorded: the customer's stream, or that of the unclaimed
    /// purchase's keeper.
    func stream(in project: ProjectID, _ environment: Environment) -> Stream {
        Stream(
            project: project, environment: environment,
            customer: bearer.customer ?? keepers.first ?? .noCustomer)
    }

    /// Returns the result of each piece of evidence. A repetition has no separate items, so they are derived from the
    /// result of the first copy.
    func outcomes(of outcome: Outcome) -> [ItemOutcome] {
        var items = outcome.items
        if items.isEmpty, let state = outcome.state.customer {
            items = outcomes(repeating: outcome.events.map(\.event), in: state)
        }
        return noting(items, by: outcome.project.catalog)
    }
}

extension IntakeWish.Purpose {
    /// Returns the same purpose, but for the customer into whom the original customer was merged; `nil` if the purpose
    /// has no customer, or already names that one.
    fileprivate func led(to whole: CustomerID) -> IntakeWish.Purpose? {
        switch self {
        case .submit(let customer): customer == whole ? nil : .submit(whole)
        case .restore(let customer): customer == whole ? nil : .restore(whole)
        case .notification: nil
        }
    }

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
            reason = IntakeReason(refusal)
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
            "This renewal info names no app, and no transaction of the same subscription came "
            + "with it; send both in one call.")
}
