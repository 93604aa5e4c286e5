package import Core
import Synchronization
import Threading
import Wording

/// Judges queued items one at a time, and records the evidence that is accepted.
///
/// The evidence is committed before the row is updated. If a worker crashes in between, its item is judged again. Its
/// cause has then already been carried out, so nothing is recorded twice.
package struct IntakeWorker: Sendable {
    /// The result of working on one item.
    package struct Work: Sendable {
        package let item: IntakeItem
        /// False if the item was changed in the meantime. The other change then remains.
        package let isKept: Bool
        /// Whether an operator should be alerted after this attempt.
        package let isAlarming: Bool
    }
    /// The maximum number of workers that may run at the same time in one process.
    package static let count = 4

    private let submissions: Submissions
    private var intake: Intake { submissions.intake }
    private let visits: StoreVisits

    package init(_ submissions: Submissions) {
        self.submissions = submissions
        visits = StoreVisits(submissions.intake.adapters.flatMap(\.profile.kinds))
    }

    /// Judges the due item with the fewest attempts. Returns `nil` if no item is due.
    package func work() throws(CommandError) -> Work? {
        let taken = try obtain(
            visits.begin { busy throws(Fault) in
                try intake.queue.takeIntake(now: intake.now(), without: busy)
            })
        guard let taken else { return nil }
        defer { visits.end(taken) }
        let judgement = judgeAndRecord(taken)
        let item = taken.item.judged(
            judgement, now: intake.now(), jitter: intake.secrets.jitter)
        let isKept = try intake.queue.changeIntake(item)
        return Work(
            item: item, isKept: isKept,
            isAlarming: isKept && item.tries == IntakeItem.alarmTries && judgement.isAlarming)
    }

    private func judgeAndRecord(
        _ taken: TakenIntake
    ) -> Judgement<[IntakeResult], Postponement> {
        guard let kind = intake.kind(named: taken.item.wish.heading.kind) else {
            return .tryAgain(IntakeReason(.ofUnknownStore))
        }
        let evidence = RawEvidence(kind, taken.bytes)
        do throws(CommandError) {
            switch try judge(evidence, of: taken.item) {
            case .believed(let proven):
                let all = receipt(evidence, beside: proven) + proven
                let wish = submissions.recording(taken.item, all, cause(of: taken.item))
                let results = try intake.ledger.perform(wish)
                // Nothing of the evidence is stored, not even the names in it.
                let erased = Refusal.erasure(.purchaseErased)
                if !results.isEmpty, results.allSatisfy({ $0.reason?.code == erased.code }) {
                    return .refused(RefusedEvidence(code: erased.code, sentence: erased.sentence))
                }
                return .believed(results)
            case .refused(let refused): return .refused(refused)
            case .undecided(let wait): return .undecided(wait)
            }
        } catch {
            let reason = IntakeReason(error)
            switch error {
            // Trying again would not help: the same evidence would be just as large, or just as old.
            case .refused(.tooMuchAtOnce), .refused(.erasure(.doneBeforeErasure)):
                return .refused(RefusedEvidence(code: reason.code, sentence: reason.sentence))
            // Deed must not discard genuine evidence because recording it failed once.
            default: return .tryAgain(reason)
            }
        }
    }

    private func judge(
        _ evidence: RawEvidence, of item: IntakeItem
    ) throws(CommandError) -> StoreVerdict {
        let heading = item.wish.heading
        let project = try intake.ledger.existing(item.wish.project)
        guard let app = project.app(evidence.key(of: heading.app)) else {
            throw .refused(.appUnknown(heading.app))
        }
        if evidence.kind.isForStore(app.receipts) {
            return intake.judging(
                StoreInquiry(
                    evidence: evidence, project: item.wish.project, app: app,
                    environment: heading.environment, tries: item.tries,
                    formerReason: item.reason, now: intake.evidenceClock,
                    catalog: project.catalog)
            ).awaited()
        }
        return Judgement<ProvenEvidence, Postponement> { () throws(RefusedEvidence) in
            try intake.prove(evidence, for: [app.trusted])
        }.map { [$0] }
    }

    /// Returns the submitted receipt, if the store's answer confirmed it. A stored receipt need not be sent to the
    /// store again.
    private func receipt(
        _ evidence: RawEvidence, beside replies: [ProvenEvidence]
    ) -> [ProvenEvidence] {
        guard evidence.kind.proof != .word, let reply = replies.first, reply.kind != evidence.kind
        else { return [] }
        let app = TrustedApp(
            id: reply.app, appleID: nil, environments: [reply.environment])
        // The store's reply covers the parts of the receipt that Deed cannot read.
        let read = try? intake.read(vouchedFor: evidence, for: app)
        return [read].compactMap(\.self)
    }

    /// Returns the cause, which is the same for every attempt, even if the store's statements about the evidence
    /// change. It changes only if the evidence is sent again with an order, which must still be fulfilled.
    private func cause(of item: IntakeItem) -> Cause {
        let secrets = intake.secrets
        let order = item.wish.order.map { secrets.digest(Array($0.text.utf8)).hexDigits.prefix(16) }
        let text = "intake:\(item.id)" + (order.map { "/\($0)" } ?? "")
        return Cause(text: text, digest: secrets.digest(Array(text.utf8)))
    }
}

extension Judgement<[IntakeResult], Postponement> {
    /// Whether an operator should be alerted if this situation persists.
    fileprivate var isAlarming: Bool {
        if case .undecided(let wait) = self { !wait.isUsual } else { false }
    }
}

/// The questions that stores are being asked, by app. No more than some of the workers may be busy with them, because a
/// store may not respond, for one app or for all, and other evidence needs no store.
private final class StoreVisits: Sendable {
    private static let limitPerApp = 2
    private static let limit = IntakeWorker.count - 1

    private struct State {
        var counts: [AppKey: Int] = [:]
        /// The number of workers that are querying the queue. Each of them may come back with a
        /// receipt for any app.
        var asking = 0
    }
    private let state = Mutex(State())
    /// The kinds of evidence that a store may have to judge.
    private let kinds: [EvidenceKind]

    init(_ kinds: [EvidenceKind]) {
        self.kinds = kinds.filter { $0.isForStore(.store) }
    }

    /// Takes an item for an app below its limit. If all workers but one are busy with items for a store, takes
    /// only an item that needs no store. A worker whose database query hangs does not block the others.
    func begin(
        _ take: (BusyStores) throws(Fault) -> TakenIntake?
    ) throws(Fault) -> TakenIntake? {
        let busy = state.withLock { state in
            let asking = state.asking
            state.asking += 1
            let full = state.counts.filter { $0.value + asking >= StoreVisits.limitPerApp }
            let all = state.counts.values.reduce(asking, +)
            return BusyStores(
                kinds: kinds, apps: Array(full.keys),
                isFull: all >= StoreVisits.limit || asking >= StoreVisits.limitPerApp)
        }
        do throws(Fault) {
            let taken = try take(busy)
            end(asking: taken)
            return taken
        } catch {
            end(asking: nil)
            throw error
        }
    }

    private func end(asking taken: TakenIntake?) {
        state.withLock { state in
            state.asking -= 1
            guard let taken, let app = appAtStore(taken) else { return }
            state.counts[app, default: 0] += 1
        }
    }

    func end(_ taken: TakenIntake) {
        guard let app = appAtStore(taken) else { return }
        state.withLock { state in
            let left = state.counts[app, default: 1] - 1
            state.counts[app] = left > 0 ? left : nil
        }
    }

    /// Returns the app about which a store may be asked; `nil` if no store judges this evidence.
    private func appAtStore(_ taken: TakenIntake) -> AppKey? {
        let heading = taken.item.wish.heading
        return kinds.first { $0.word == heading.kind }.map {
            AppKey(store: $0.store, id: heading.app)
        }
    }
}

extension IntakeReason {
    fileprivate init(_ error: CommandError) {
        switch error {
        case .refused(let refusal): self.init(refusal)
        case .fault(.busy):
            self.init(code: "busy", sentence: "The service is overloaded; Deed tries again.")
        case .fault(.unavailable):
            self.init(
                code: "database_unavailable", sentence: "The database could not be reached.")
        case .fault(.impeded(let impediment)):
            self.init(code: impediment.kind.rawValue, sentence: impediment.publicSentence)
        case .fault(.logBlocked):
            self.init(
                code: "log_blocked",
                sentence: Remedy.moveEventAside.after(
                    "An event lies beyond the head of the log."))
        case .fault(.rowUnproven):
            self.init(
                code: "row_unproven",
                sentence: Remedy.repairRows.after("A row differs from the log."))
        case .fault(.unreadable):
            self.init(
                code: "unreadable",
                sentence:
                    "Events for this evidence cannot be read; Deed's log entries say why.")
        case .fault(.broken), .fault(.leaseLost):
            // The log contains the reason, which may include details that the reader must not see.
            self.init(
                code: "internal", sentence: "Something broke in Deed; its log entries say what.")
        }
    }
}
