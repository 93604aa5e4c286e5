package import Core

/// Asks the store, and records the signed evidence in its answers in the same way as any other
/// evidence.
package struct StoreQuestions {
    /// A function that asks a store for one page of its answer.
    typealias Asking = (StoreCall, StoreApp, Environment?) throws(StoreTrouble) -> StoreAnswer

    /// The maximum number of pages read for one answer.
    package static let pageLimit = 500
    /// How many statements are recorded in each commit.
    private static let pageSize = 200
    private static let byteLimit = 64 << 20
    private static let patience: Int64 = 10 * 60_000

    private let submissions: Submissions
    private let asking: Asking
    private var intake: Intake { submissions.intake }

    package init(_ submissions: Submissions) {
        self.init(submissions, asking: submissions.intake.ask)
    }

    init(_ submissions: Submissions, asking: @escaping Asking) {
        self.submissions = submissions
        self.asking = asking
    }

    /// Asks the store and records its answer. Records nothing until the whole answer has arrived and been verified.
    package func ask(
        _ call: StoreCall, about key: AppKey, of project: ProjectID, in environment: Environment?
    ) throws(StoreQuestionError) -> StoreReport {
        let app = try app(key, of: project)
        let answer = try wholeAnswer(
            to: call, StoreApp(project: project, key: key), environment)
        let proven = try prove(answer, app)
        try requireSubject(of: call, in: proven, answer, app, of: project)
        return StoreReport(
            environment: answer.environment, remark: answer.remark,
            items: try record(proven, of: project, onlyNews: call.isOrder))
    }

    func app(_ key: AppKey, of project: ProjectID) throws(StoreQuestionError) -> App {
        let found = try rethrowing(
            as: StoreQuestionError.command, intake.ledger.existing(project).app(key))
        guard let found else { throw .command(.refused(.appUnknown(key.id))) }
        return found
    }

    /// Requests all pages of an answer and combines them.
    func wholeAnswer(
        to call: StoreCall, _ app: StoreApp, _ environment: Environment?
    ) throws(StoreQuestionError) -> StoreAnswer {
        var answer = try page(call, app, environment)
        var seen: Set<String> = []
        let deadline = intake.machineClock().advanced(byMilliseconds: StoreQuestions.patience)
        while let next = answer.next, let call = call.page(after: next) {
            let isNew = seen.insert(next).inserted
            if !isNew || seen.count >= StoreQuestions.pageLimit
                || answer.byteCount > StoreQuestions.byteLimit
                || intake.machineClock() >= deadline
            {
                throw .trouble(.endlessPages(limit: seen.count))
            }
            answer.add(try page(call, app, answer.environment))
        }
        return answer
    }

    private func page(
        _ call: StoreCall, _ app: StoreApp, _ environment: Environment?
    ) throws(StoreQuestionError) -> StoreAnswer {
        try rethrowing(as: StoreQuestionError.trouble, asking(call, app, environment))
    }

    func prove(
        _ answer: StoreAnswer, _ app: App
    ) throws(StoreQuestionError) -> [ProvenPiece] {
        let foreign = { (error: RefusedEvidence) in
            StoreQuestionError.trouble(.foreign("\(error.code): \(error.sentence)"))
        }
        return try rethrowing(as: foreign) { () throws(RefusedEvidence) in
            var pieces: [ProvenPiece] = []
            for raw in answer.evidence {
                let proven = try prove(raw, app, in: answer.environment)
                if !raw.kind.namesApp {
                    try pieces.addRenewal(proven)
                } else {
                    pieces.append(ProvenPiece(raw: raw, proven: [proven]))
                }
            }
            for proven in answer.vouched {
                try require(proven, from: answer.environment)
                pieces.append(ProvenPiece(raw: nil, proven: [proven]))
            }
            return pieces
        }
    }

    func prove(
        _ raw: RawEvidence, _ app: App, in environment: Environment
    ) throws(RefusedEvidence) -> ProvenEvidence {
        var raw = raw
        // Renewal info does not name its app, which is the app of the transaction before it.
        if !raw.kind.namesApp { raw.companion = app.key.id }
        let proven = try intake.prove(raw, for: [app.trusted])
        try require(proven, from: environment)
        return proven
    }

    private func require(
        _ proven: ProvenEvidence, from environment: Environment
    ) throws(RefusedEvidence) {
        if proven.environment != environment {
            throw RefusedEvidence(
                code: "foreign_environment",
                sentence: "The answer is from \(proven.environment.rawValue).")
        }
    }

    /// Throws unless the answer is about the subject of the question.
    func requireSubject(
        of call: StoreCall, in pieces: [ProvenPiece], _ answer: StoreAnswer, _ app: App,
        of project: ProjectID
    ) throws(StoreQuestionError) {
        let facts = pieces.flatMap(\.proven).flatMap(\.facts.transactions)
        let isMeant: Bool
        switch call {
        case .transaction(let id): isMeant = facts.contains { $0.transaction == id }
        case .history(let id, let filter, _) where filter.isOpen:
            isMeant = facts.areOfOneCustomer && facts.name(id)
        case .history(let id, _, _), .standings(let id), .refunds(let id, _):
            if !facts.areOfOneCustomer || facts.name(id) {
                isMeant = facts.areOfOneCustomer
            } else {
                isMeant = try isSameCustomer(facts, id, answer, app, project)
            }
        default: return
        }
        if !isMeant { throw .trouble(.foreign("it is not about the requested transaction")) }
    }

    /// Returns whether the transactions belong to the same customer as the given transaction, even if that transaction
    /// is not among them.
    private func isSameCustomer(
        _ facts: [TransactionFact], _ id: TransactionID, _ answer: StoreAnswer, _ app: App,
        _ project: ProjectID
    ) throws(StoreQuestionError) -> Bool {
        if facts.isEmpty { return true }
        let asked = try page(
            .transaction(id), StoreApp(project: project, key: app.key), answer.environment)
        let known = try prove(asked, app).flatMap(\.proven).flatMap(\.facts.transactions)
            .first { $0.transaction == id }
        return known?.appTransaction.map { account in
            facts.contains { $0.appTransaction == account }
        } ?? false
    }

    /// Records an answer. The store signs each answer anew. With `onlyNews`, a later answer with
    /// the same content is not recorded.
    func record(
        _ pieces: [ProvenPiece], of project: ProjectID, onlyNews: Bool
    ) throws(StoreQuestionError) -> [StoreReport.Item] {
        var items: [StoreReport.Item] = []
        for piece in pieces {
            switch piece.proven.first?.kind.content {
            case .news:
                if let raw = piece.raw { items.append(.notification(try recordNotification(raw))) }
            case .installation: items += piece.proven.map { .appTransaction($0.environment) }
            case .purchases, nil:
                let recorded = try rethrowing(
                    as: StoreQuestionError.command,
                    submissions.recording(
                        fromStore: piece.proven, of: project, onlyNews: onlyNews))
                items += recorded.results.map { result in
                    .purchase(recorded.isRepetition ? result.asKnown : result)
                }
            }
        }
        return items
    }

    /// Records what is new in an answer. Returns whether there was anything.
    func recordNews(
        _ pieces: [ProvenPiece], of project: ProjectID
    ) throws(StoreQuestionError) -> Bool {
        var rest = pieces.flatMap(\.proven)[...]
        var isNew = false
        while !rest.isEmpty {
            let page = Array(rest.prefix(StoreQuestions.pageSize))
            rest = rest.dropFirst(page.count)
            let results = try rethrowing(
                as: StoreQuestionError.command,
                submissions.record(fromStore: page, of: project, onlyNews: true))
            isNew = isNew || results.contains { $0.outcome == "recorded" }
        }
        return isNew
    }

    private func recordNotification(
        _ raw: RawEvidence
    ) throws(StoreQuestionError) -> NotificationAnswer {
        let wish = try rethrowing(
            as: StoreQuestionError.init, submissions.recordingNotification(raw))
        return try rethrowing(as: StoreQuestionError.command, intake.ledger.perform(wish))
    }
}

extension IntakeResult {
    /// The same result, but for statements that were already recorded.
    fileprivate var asKnown: IntakeResult {
        IntakeResult(
            purchase: purchase, transaction: transaction,
            outcome: outcome == "recorded" ? "already_known" : outcome, order: order,
            reason: reason, unknownProduct: unknownProduct)
    }
}

/// Evidence from an answer, and what it states. A transaction is followed by its renewal.
struct ProvenPiece {
    /// `nil` if the answer has no signed evidence.
    let raw: RawEvidence?
    var proven: [ProvenEvidence]
}

extension [ProvenPiece] {
    /// Adds a renewal to the preceding transaction, which must belong to the same subscription.
    fileprivate mutating func addRenewal(_ renewal: ProvenEvidence) throws(RefusedEvidence) {
        let originals = Set(renewal.facts.renewals.map(\.original))
        guard let place = indices.last,
            self[place].proven.contains(where: { one in
                one.facts.transactions.contains { originals.contains($0.original) }
            })
        else {
            throw RefusedEvidence(
                code: "renewal_without_transaction",
                sentence: "A renewal came with another subscription's transaction.")
        }
        self[place].proven.append(renewal)
    }
}

extension [TransactionFact] {
    fileprivate var areOfOneCustomer: Bool { Set(compactMap(\.appTransaction)).count <= 1 }

    /// Returns whether the id is that of one of the transactions, or of the store account that made
    /// one.
    fileprivate func name(_ id: TransactionID) -> Bool {
        contains {
            $0.transaction == id || $0.original == id || $0.appTransaction?.text == id.text
        }
    }
}

/// Why a question to the store failed.
package enum StoreQuestionError: Error, Hashable, Sendable {
    case trouble(StoreTrouble)
    case command(CommandError)

    init(_ error: NotificationError) {
        switch error {
        case .unreadable(let refused), .unproven(let refused):
            self = .trouble(.foreign("\(refused.code): \(refused.sentence)"))
        case .unknownApp(let app): self = .command(.refused(.appUnknown(app)))
        case .throttled: self = .command(.fault(.busy))
        case .fault(let fault): self = .command(.fault(fault))
        }
    }
}

/// The result of asking the store a question.
package struct StoreReport: Sendable {
    package enum Item: Sendable {
        case purchase(IntakeResult)
        case notification(NotificationAnswer)
        case appTransaction(Environment)
    }
    package let environment: Environment
    package let remark: StoreRemark
    /// One item for each purchase that signed evidence is about, and one for each notification.
    package let items: [Item]
}

extension StoreAnswer {
    /// Adds the next page of the answer.
    fileprivate mutating func add(_ page: StoreAnswer) {
        evidence += page.evidence
        vouched += page.vouched
        byteCount += page.byteCount
        if case .attempts(let some) = remark, case .attempts(let more) = page.remark {
            remark = .attempts(some + more)
        }
        next = page.next
        revision = page.revision ?? revision
    }
}

extension Submissions {
    /// Records evidence that the store itself sent, either for the purchase's holder or as unclaimed.
    func record(
        fromStore proven: [ProvenEvidence], of project: ProjectID, onlyNews: Bool = false
    ) throws(CommandError) -> [IntakeResult] {
        try recording(fromStore: proven, of: project, onlyNews: onlyNews).results
    }

    /// Records the evidence, and returns whether it was already recorded.
    fileprivate func recording(
        fromStore proven: [ProvenEvidence], of project: ProjectID, onlyNews: Bool = false
    ) throws(CommandError) -> (results: [IntakeResult], isRepetition: Bool) {
        guard let first = proven.first else { return ([], false) }
        let pieces = proven.enumerated().map { Submission.Item(index: $0, facts: $1.facts) }
        let submission = Submission(pieces, by: .store, onlyNews: onlyNews)
        // The cause depends only on the answer, so that the same answer is recorded once, however
        // often it is requested.
        let digest = intake.secrets.digest(proven.flatMap(\.record.digest))
        let text = "store:\(intake.secrets.digest(digest).hexDigits)"
        let outcome = try intake.ledger.append(
            Command(
                submission, in: submission.stream(in: project, first.environment),
                on: proven.map { onlyNews ? $0.record.keptWhenNew : $0.record },
                by: first.kind.store.actor,
                cause: Cause(text: text, digest: digest)))
        notice(outcome, in: project)
        return (submission.outcomes(of: outcome).map(IntakeResult.init), outcome.isRepetition)
    }
}
