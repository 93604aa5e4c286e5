package import Core
import Threading

/// Records evidence that back ends and stores submit, once it has been verified.
package struct Submissions: Sendable {
    /// The maximum number of transactions in one piece of evidence.
    package static let transactionLimit = 5000
    /// How long a call waits for a store, in milliseconds. After that, the evidence is queued, and
    /// the store is asked from the queue.
    package static let patience: Int64 = 5000

    package let intake: Intake
    package let apps: AppRing
    package let news = AppNews()
    /// A function that is called for each recorded purchase whose product is not in the catalog.
    private let noticeUnknown: @Sendable (ProjectID, ProductKey) -> Void

    /// If `apps` is not given, creates a ring of apps for this use alone.
    package init(
        _ intake: Intake, apps: AppRing? = nil,
        noticeUnknown: @escaping @Sendable (ProjectID, ProductKey) -> Void = { _, _ in }
    ) {
        self.intake = intake
        self.apps =
            apps ?? AppRing(intake.directory, machineClock: intake.machineClock)
        self.noticeUnknown = noticeUnknown
    }

    /// Reports products that no catalog contains, if this command recorded a new transaction for
    /// them.
    func notice(_ outcome: Outcome, in project: ProjectID) {
        for item in outcome.items where item.result == .recorded {
            guard let product = item.newUnknownProduct else { continue }
            noticeUnknown(project, product)
            news.note(product, in: project)
        }
    }

    /// Returns a customer's request to record what the evidence states. Evidence that cannot be verified is skipped.
    /// Evidence from the other environment is recorded there. A question to a store does not block a thread.
    package func submitting(
        _ request: SubmissionRequest, for stream: Stream, by sender: Sender
    ) throws(CommandError) -> Wish<SubmissionAnswer> {
        let pieces = try judge(request, of: stream)
        if pieces.questions.isEmpty {
            return try recording(pieces.inOrder, request, for: stream, by: sender)
        }
        let arrived = intake.now()
        let asked = pieces.questions.map {
            intake.judging($0.inquiry, within: Submissions.patience)
        }
        return .ask(
            Course.all(asked).map { verdicts in
                .look { () throws(CommandError) in
                    var pieces = pieces
                    for (question, verdict) in zip(pieces.questions, verdicts) {
                        pieces.judged[question.index] = try judge(
                            verdict, on: question, request, of: stream)
                    }
                    return try recording(
                        pieces.inOrder, request, for: stream, by: sender,
                        after: (Set(pieces.questions.map(\.index)), arrived))
                }
            })
    }

    private func recording(
        _ judged: [JudgedPiece], _ request: SubmissionRequest, for stream: Stream,
        by sender: Sender, after asked: (indices: Set<Int>, since: Instant)? = nil
    ) throws(CommandError) -> Wish<SubmissionAnswer> {
        // Evidence that the first call could not judge in time may turn out to be verified in a
        // repetition with the same key.
        let apart = sender.idempotencyKey == nil ? [] : asked?.indices ?? []
        let parts = SubmissionPart.parts(of: judged, request, in: stream, apart: apart)
        let held = try obtain(unwritten(by: parts, around: stream))
        if let whole = held[stream]?.customer.mergedInto {
            throw .refused(.customerMerged(stream.customer, into: whole))
        }
        let cause = intake.secrets.cause(of: sender, request, judged)
        // Any of these causes may come from a life that has ended. Then no piece may begin a new one.
        let causes = [cause] + apart.union([0]).sorted().map { cause.ofPiece($0) }
        let commands = parts.map { part in
            var command = part.command(by: sender.actor, cause: part.cause(under: cause))
            if !apart.isEmpty { command.akin = causes.filter { $0 != command.cause } }
            return asked.map { command.unlessErased(since: $0.since) } ?? command
        }
        // The closure captures only these values, so that the request and all its bytes need not
        // stay in memory while it waits.
        return Wish(commands) {
            [now = intake.now, order = request.order] results throws(CommandError) in
            var outcomes: [ItemOutcome] = []
            var snapshots = held
            for (part, result) in zip(parts, results) {
                let outcome = try result.get()
                notice(outcome, in: stream.project)
                outcomes += part.submission.outcomes(of: outcome)
                snapshots[part.stream] = try CustomerSnapshot(outcome)
            }
            return try SubmissionAnswer(
                items: judged.items(outcomes, in: stream.environment), order: order,
                snapshots, of: stream, at: now())
        }
    }

    /// Returns customers who are in the answer although no command writes their streams: a customer with nothing to
    /// record, and the sandbox if it may count. They are read in advance, so that no batch waits for them after the
    /// commands.
    private func unwritten(
        by parts: [SubmissionPart], around stream: Stream
    ) throws(Fault) -> [Stream: CustomerSnapshot] {
        var wanted = [stream]
        if stream.environment == .production,
            apps.apps(of: stream.project).contains(where: \.countsSandbox)
        {
            wanted.append(stream.inSandbox)
        }
        var snapshots: [Stream: CustomerSnapshot] = [:]
        for stream in wanted where !parts.contains(where: { $0.stream == stream }) {
            snapshots[stream] = try intake.ledger.customer(of: stream)
        }
        return snapshots
    }

    /// Verifies a submission. Without a project, no app of the evidence is valid.
    func prove(
        _ piece: RawEvidence, of project: ProjectID?
    ) throws(RefusedEvidence) -> ProvenEvidence {
        let listed = project.map(apps.apps(of:)) ?? []
        let trusted = listed.filter { $0.app.store == piece.kind.store }.map(\.trusted)
        let proven = try intake.prove(piece, for: trusted)
        if proven.facts.transactions.count > Submissions.transactionLimit { throw .tooLong }
        return proven
    }
}

/// Evidence that a back end submits together for one customer.
package struct SubmissionRequest: Sendable {
    package static let signedTransactionLimit = 100

    /// The pieces of evidence. The results come in the same order.
    package let pieces: [RawEvidence]
    package let isRestore: Bool
    /// The customer's order that the evidence fulfils. Needed for evidence that cannot name an order itself.
    package let order: OrderID?
    /// The only environment from which evidence is accepted; `nil` for both.
    package let environment: Environment?

    package init(
        _ pieces: [RawEvidence], isRestore: Bool, order: OrderID?, only environment: Environment?
    ) {
        self.pieces = pieces
        self.isRestore = isRestore
        self.order = order
        self.environment = environment
    }

    /// Returns why evidence from this environment is not accepted; `nil` if it is accepted.
    func refusal(of found: Environment) -> RefusedEvidence? {
        guard let environment, environment != found else { return nil }
        return RefusedEvidence(
            code: "environment_not_allowed",
            sentence: "The evidence is from the environment \(found.rawValue), but the key is for "
                + "\(environment.rawValue) only; submit it with another key.")
    }
}

/// The part of a request that concerns a single environment.
private struct SubmissionPart: Sendable {
    let stream: Stream
    let submission: Submission
    private let evidence: [EvidenceRecord]
    /// The piece that this part is about, if that piece has a separate commit.
    private let piece: Int?

    /// Returns one part for each environment, and one for each piece that needs a separate commit.
    static func parts(
        of judged: [JudgedPiece], _ request: SubmissionRequest, in stream: Stream,
        apart: Set<Int>
    ) -> [SubmissionPart] {
        let own = apart.sorted().filter { place in
            judged[place].belief?.contains { $0.environment == stream.environment } ?? false
        }
        // The first of these parts fulfils the order. If there are none, the remaining part does.
        let single = apart.sorted().flatMap { place -> [SubmissionPart] in
            let order = place == own.first ? request.order : nil
            return [
                SubmissionPart(judged, request, in: stream, order: order, of: place),
                SubmissionPart(
                    judged, request, in: stream.inOtherEnvironment, order: nil, of: place),
            ].compactMap(\.self)
        }
        let order = own.isEmpty ? request.order : nil
        return single
            + [
                SubmissionPart(judged, request, in: stream, order: order, without: apart),
                SubmissionPart(
                    judged, request, in: stream.inOtherEnvironment, order: nil, without: apart),
            ].compactMap(\.self)
    }

    /// Creates the part about the stream's environment; `nil` if the request contains nothing about
    /// that environment.
    private init?(
        _ judged: [JudgedPiece], _ request: SubmissionRequest, in stream: Stream,
        order: OrderID?, of piece: Int? = nil, without apart: Set<Int> = []
    ) {
        self.piece = piece
        var items: [Submission.Item] = []
        var evidence: [EvidenceRecord] = []
        for (index, judgement) in judged.enumerated()
        where piece.map({ $0 == index }) ?? !apart.contains(index) {
            for proven in judgement.belief ?? [] where proven.environment == stream.environment {
                items.append(Submission.Item(index: index, facts: proven.facts))
                evidence.append(proven.record)
            }
        }
        if items.isEmpty, order == nil { return nil }
        self.stream = stream
        self.evidence = evidence
        submission = Submission(
            items,
            by: request.isRestore ? .restorer(stream.customer) : .customer(stream.customer),
            order: order)
    }

    /// Returns the cause of this part. Parts of a request with the same key have different causes.
    func cause(under cause: Cause) -> Cause {
        piece.map { cause.ofPiece($0) } ?? cause
    }

    func command(by actor: Actor, cause: Cause) -> Command {
        Command(submission, in: stream, on: evidence, by: actor, cause: cause)
    }
}

extension Command {
    /// Creates the command to record a submission. Each of its items has one piece of evidence.
    init(
        _ submission: Submission, in stream: Stream, on evidence: [EvidenceRecord],
        by actor: Actor, cause: Cause
    ) {
        self.init(stream: stream, actor: actor, cause: cause) { situation throws(Refusal) in
            try submission.decide(situation)
        }
        purchases = submission.purchases
        tokens = submission.tokens
        customers = submission.keepers
        self.evidence = evidence
    }
}

extension CustomerSnapshot {
    fileprivate init(_ outcome: Outcome) throws(CommandError) {
        guard let customer = outcome.state.customer else {
            throw .fault(.broken("a submission returned no customer"))
        }
        self.init(customer: customer, project: outcome.project, position: outcome.position)
    }
}

extension Secrets {
    /// Returns the cause that the sender's key gives or, without a key, a unique cause that names the evidence
    /// behind the events.
    fileprivate func cause(
        of sender: Sender, _ request: SubmissionRequest, _ judged: [JudgedPiece]
    ) -> Cause {
        guard sender.idempotencyKey == nil,
            let proven = judged.lazy.compactMap(\.belief?.first).first
        else {
            return cause(
                of: sender, request.isRestore ? "restore" : "submit",
                [request.order?.text] + request.pieces.map { digest($0.bytes).hexDigits })
        }
        // The digest is made from the text alone. It need not distinguish requests, because no
        // other request can have this cause.
        let text = "evidence:\(proven.record.digest.hexDigits)/\(randomText(bytes: 8))"
        return Cause(text: text, digest: digest(Array(text.utf8)))
    }
}

extension RefusedEvidence {
    fileprivate static let tooLong = RefusedEvidence(
        code: "too_many_transactions",
        sentence:
            "The evidence contains more than \(Submissions.transactionLimit) transactions, the limit "
            + "of one call; submit signed transactions instead.")
}
